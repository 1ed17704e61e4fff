import { untilNothingWaits } from '../drain.ts'
import { cpuTarget, medians, ratioOf, type Measurement, type Target } from '../figures.ts'
import { measureExchange, measurePeer, measureUntilDone } from '../measure.ts'
import { compare, peerLabel, ratioTarget } from '../peers/comparison.ts'
import { Peer } from '../peers/peer.ts'
import { insert, Pgbench } from '../pgbench.ts'
import { measureRounds } from '../rounds.ts'
import type { AnyStage, Outcome, Scenario } from '../stage.ts'
import { smallRooms, toSends } from '../traffic.ts'

const parley = (connections: number) => `Parley, ${connections} connections`
const done = (connections: number) => `${parley(connections)}, all done`
const made = (connections: number) => peerLabel(`${connections} connections`)
const madeDone = (connections: number) => `${made(connections)}, all done`

/**
 * How many messages a second can people send, each acknowledged after it is on disk? What counts is the throughput
 * against pgbench, which does the least that storing a message could be, and the processor time of a send.
 */
export const send: Scenario = {
  name: 'send',
  question: 'How many messages a second can people send, each acknowledged after it is on disk?',
  figure: 'acknowledged sends a second, beside single-row inserts by pgbench in the same database',
  needs: { rooms: smallRooms },
  takesRate: true,
  comparesPeers: true,

  async run(stage) {
    if (stage.rate !== null) return sendElsewhere(stage)
    // Twice as many rounds of half the time: what is compared then lies only seconds apart.
    const rounds = stage.isTrial ? 1 : stage.rounds * 2
    const brief = { ...stage, rounds, seconds: stage.seconds / 2 }
    const pgbench = await Pgbench.find(stage.parley)
    const peer = await Peer.start(stage)
    const sendThere = (connections: number, label: string) =>
      peer && peer.measure(brief, there => measurePeer(there, toPeer(label), toLoad(there, connections)))
    const steps = [
      () => insert(brief, pgbench, 1),
      () => sendThere(64, made(64)),
      () => sendOver(brief, 64),
      () => insert(brief, pgbench, 16),
      () => sendThere(256, made(256)),
      () => sendOver(brief, 256),
      () => insert(brief, pgbench, 64),
    ]
    // What a step has put off is its own cost (all done, below), and not that of the next.
    const apart = steps.map(step => async () => {
      const measurement = await step()
      await untilNothingWaits(stage.parley)
      return measurement
    })
    const measurements = await measureRounds(brief, () => apart)
    // What they cost in the end. Once: it is the steadiest figure here, and what follows may take a while.
    for (const connections of [64, 256]) {
      const described = { label: done(connections), subject: 'parley', unit: 'sends' } as const
      const { measurement } = await measureUntilDone(brief, described, toLoad(stage, connections))
      measurements.push(measurement)
      const there = await sendThere(connections, madeDone(connections))
      if (there !== null) measurements.push(there)
    }
    pgbench?.stop()
    await peer?.stop()
    const comparisons = [64, 256].flatMap(connections => [
      compare(measurements, parley(connections), made(connections)),
      compare(measurements, done(connections), madeDone(connections), { isUntilDone: true }),
    ])
    const baseline = pgbench?.version ?? 'pgbench is not installed: there is nothing to compare with.'
    const notes = [
      `${rounds} rounds of ${brief.seconds} s each.`,
      'All done: with what follows from the messages in the background, until nothing is left to do.',
      baseline,
    ]
    const rush = comparisons
      .filter(one => one.label === done(64))
      .flatMap(one => ratioTarget(one, 'CPU of 1,000', 0.25))
    return {
      measurements,
      targets: [...toTargets(measurements), ...rush],
      comparisons: peer === null ? [] : comparisons,
      notes,
    }
  },

  runElsewhere: sendElsewhere,
}

/** Without anything to compare with: over 64 and 256 connections, or at the rate that was asked for. */
async function sendElsewhere(stage: AnyStage): Promise<Outcome> {
  const steps = stage.rate === null ? [64, 256].map(count => () => sendOver(stage, count)) : [() => sendAt(stage)]
  return { measurements: await measureRounds(stage, () => steps), targets: [] }
}

function sendOver(stage: AnyStage, connections: number): Promise<Measurement> {
  const described = { label: parley(connections), subject: 'parley', unit: 'sends' } as const
  return measureExchange(stage, described, toLoad(stage, connections))
}

const toPeer = (label: string) => ({ label, subject: 'peer', unit: 'sends' }) as const

const toLoad = ({ rooms }: AnyStage, connections: number) => ({ connections: toSends(rooms.rooms!, connections) })

function sendAt(stage: AnyStage): Promise<Measurement> {
  const described = { label: `Parley, at ${stage.rate}/s`, subject: 'parley', unit: 'sends' } as const
  return measureExchange(stage, described, {
    connections: toSends(stage.rooms.rooms!, 256),
    perSecond: stage.rate,
  })
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
      limit: 0.65,
      unit: '×',
    },
    ...targets,
  ]
}
