import { cpuTarget, medians, ratioOf, type Measurement, type Target } from '../figures.ts'
import { toRequest } from '../load/http-connection.ts'
import { Pgbench } from '../pgbench.ts'
import { measureExchange, type Scenario, type Stage } from '../stage.ts'
import { texts, type Room } from '../world.ts'

const parley = (connections: number) => `Parley, ${connections} connections`
const pgbenchName = (count: number) => `pgbench, ${count} ${count === 1 ? 'client' : 'clients'}`

/**
 * How many messages a second can people send, each acknowledged after it is on disk? What counts is the throughput
 * against pgbench, which does the least that storing a message could be, and the processor time of a send.
 */
export const send: Scenario = {
  name: 'send',
  question: 'How many messages a second can people send, each acknowledged after it is on disk?',
  figure: 'acknowledged sends a second, beside single-row inserts by pgbench in the same database',
  needs: { rooms: { rooms: 50, members: 10, messages: 0 } },

  async run(stage) {
    const { say } = stage
    // Twice as many rounds of half the time: what is compared then lies only seconds apart.
    const rounds = stage.rounds * 2
    const brief = { ...stage, seconds: Math.ceil(stage.seconds / 2) }
    const pgbench = await Pgbench.find(stage.parley)
    const measurements: Measurement[] = []
    for (let round = 0; round < rounds; round++) {
      const steps = [
        () => insert(brief, pgbench, 1),
        () => sendOver(brief, 64),
        () => insert(brief, pgbench, 16),
        () => sendOver(brief, 256),
        () => insert(brief, pgbench, 64),
      ]
      // Every other round the other way round, so that what one leaves behind does not always meet the same.
      for (const step of round % 2 === 0 ? steps : steps.reverse()) {
        const measurement = await step()
        if (measurement === null) continue
        measurements.push(measurement)
        say(`${measurement.label}: ${Math.round(measurement.perSecond ?? 0)}/s`)
      }
    }
    pgbench?.stop()
    const baseline = pgbench?.version ?? 'pgbench is not installed: there is nothing to compare with.'
    const notes = [`${rounds} rounds of ${brief.seconds} s each.`, baseline]
    return { measurements, targets: toTargets(measurements), notes }
  },
}

async function insert(stage: Stage, pgbench: Pgbench | null, count: number): Promise<Measurement | null> {
  if (pgbench === null) return null
  const { perSecond, averageMs, databaseCpu, others } = await stage.parley.holdStill(() =>
    pgbench.insert(count, stage.seconds),
  )
  return {
    label: pgbenchName(count),
    subject: 'baseline',
    unit: 'rows',
    perSecond,
    // pgbench gives the average; with a closed loop it is close to the median.
    p50Ms: averageMs,
    p95Ms: null,
    p99Ms: null,
    serverCpu: null,
    databaseCpu,
    loadCpu: null,
    rssMiB: null,
    others,
  }
}

function sendOver(stage: Stage, connections: number): Promise<Measurement> {
  return measureExchange(
    stage,
    { label: parley(connections), subject: 'parley', unit: 'sends' },
    { connections: Array.from({ length: connections }, (_, at) => toSends(stage.rooms.rooms!, at)) },
  )
}

/** Connections are spread over rooms first, and then over the members of each. */
function toSends(rooms: Room[], connection: number): string[] {
  const { app, members } = rooms[connection % rooms.length]!
  const { token } = members[Math.floor(connection / rooms.length) % members.length]!
  return texts.map((_, at) =>
    toRequest('POST', `/api/apps/${app}/messages`, token, { text: texts[(at + connection) % texts.length] }),
  )
}

function toTargets(measurements: Measurement[]): Target[] {
  const baselines = medians(measurements).filter(({ subject }) => subject === 'baseline')
  const best = baselines.toSorted((a, b) => b.perSecond! - a.perSecond!)[0]
  const targets = [64, 256].map(connections =>
    cpuTarget(measurements, parley(connections), `sends over ${connections} connections`, 0.14),
  )
  if (best === undefined) return targets
  const ratio = (connections: number) => ratioOf(measurements, parley(connections), best.label)
  return [
    { name: 'sends over 256 connections ÷ best of pgbench', value: ratio(256), bound: 'at least', limit: 1, unit: '×' },
    {
      name: 'sends over 64 connections ÷ best of pgbench',
      value: ratio(64),
      bound: 'at least',
      limit: 0.55,
      unit: '×',
    },
    ...targets,
  ]
}
