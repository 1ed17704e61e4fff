import { cpuTarget, ratioOf, type Measurement, type Target } from '../figures.ts'
import { measureParts, measureUntilDone } from '../measure.ts'
import { insert, Pgbench, pgbenchName } from '../pgbench.ts'
import type { AnyStage, Scenario } from '../stage.ts'
import { smallRooms, toReaders, toSends } from '../traffic.ts'

const connections = 64
const readersOfRoom = 3
const label = `Parley, ${connections} senders, all done`
const clients = 64

/**
 * How many messages a second can go on for ever? Work that is put off counts: what is sent in a minute is divided by the
 * time until that is done, too. Some read along, as in real rooms, and move their markers.
 */
export const sustained: Scenario = {
  name: 'sustained',
  question: 'How many messages a second can be kept up, with everything that follows from them?',
  figure: 'messages a second until everything is done, and their processor time',
  needs: { rooms: smallRooms },
  seconds: 60,
  rounds: 1,
  takesRate: true,

  async run(stage) {
    const pgbench = await Pgbench.find(stage.parley)
    const measurements: Measurement[] = []
    const backlogs: number[] = []
    for (let round = 0; round < stage.rounds; round++) {
      const baseline = await insert({ ...stage, seconds: Math.min(stage.seconds, 5) }, pgbench, clients)
      if (baseline !== null) measurements.push(baseline)
      const described = { label, subject: 'parley', unit: 'messages' } as const
      const { measurement, backlogSeconds } = await measureUntilDone(stage, described, toJob(stage))
      measurements.push(measurement)
      backlogs.push(backlogSeconds)
      stage.say(`${label}: ${measurement.perSecond!.toFixed(0)}/s, worked off after ${backlogSeconds.toFixed(1)} s`)
    }
    pgbench?.stop()
    return {
      measurements,
      targets: stage.rate === null ? toTargets(measurements, Math.max(...backlogs)) : [],
      notes: [
        `${readersOfRoom} of ten in each room are connected and move their markers once a second.`,
        `What was put off was done ${backlogs.map(seconds => seconds.toFixed(1)).join(', ')} s after the last message.`,
      ],
    }
  },

  async runElsewhere(stage) {
    const described = { label: `Parley, ${connections} senders`, subject: 'parley', unit: 'messages' } as const
    const { measurement } = await measureParts(stage, described, toJob(stage))
    return { measurements: [measurement], targets: [], notes: ['What is put off there is not known, nor counted.'] }
  },
}

function toJob({ server, rooms, rate }: AnyStage) {
  return {
    connections: toSends(rooms.rooms!, connections),
    readers: toReaders(server, rooms.rooms!, readersOfRoom, { areReading: true }),
    perSecond: rate,
  }
}

function toTargets(measurements: Measurement[], backlogSeconds: number): Target[] {
  const cost = cpuTarget(measurements, label, 'messages, all done', 0.2)
  const backlog: Target = {
    name: 'time until what was put off is done',
    value: backlogSeconds,
    bound: 'at most',
    limit: 2,
    unit: 's',
  }
  if (!measurements.some(({ subject }) => subject === 'baseline')) return [cost, backlog]
  const value = ratioOf(measurements, label, pgbenchName(clients))
  // Six times what was kept up when it was first measured.
  const rate: Target = { name: 'messages kept up ÷ pgbench', value, bound: 'at least', limit: 0.3, unit: '×' }
  return [rate, cost, backlog]
}
