import { figureOf, medians, type Measurement, type Target } from '../figures.ts'
import { socketIo, type Protocol } from '../crowd.ts'
import { measureParts, measurePeer, measureUntilDone, toCosts, toPercentiles, type Part } from '../measure.ts'
import { compare, peerLabel, ratioTarget } from '../peers/comparison.ts'
import { Peer } from '../peers/peer.ts'
import { measureRounds } from '../rounds.ts'
import type { AnyStage, Scenario } from '../stage.ts'
import { smallRooms, toCompany, toReaders } from '../traffic.ts'

const usualRate = 200
const slices = 3
const listenersOfRoom = 4
const toRate = (rate: number | null) => `${rate ?? usualRate} messages a second`
const described = (rate: number | null) =>
  ({ label: `Parley, ${toRate(rate)}`, subject: 'parley', unit: 'messages' }) as const
const peerDescribed = (rate: number | null) =>
  ({ label: peerLabel(toRate(rate)), subject: 'peer', unit: 'messages' }) as const

/**
 * Does a server that works steadily stay as it is? 200 messages a second are what a small company writes. What counts
 * is the processor time of a message minute by minute, the wait for its acknowledgement, memory, and the disk.
 */
export const steady: Scenario = {
  name: 'steady',
  question: 'What do 200 messages a second cost, minute by minute, with 200 of 500 people connected?',
  figure: 'processor time of 1,000 messages, with everything that follows from them',
  needs: { rooms: smallRooms },
  isFresh: true,
  seconds: 180,
  rounds: 1,
  takesRate: true,
  comparesPeers: true,

  async run(stage) {
    const { label } = described(stage.rate)
    const peer = await Peer.start(stage)
    const minutes: Measurement[] = []
    const write = async () => {
      const { measurement, parts } = await measureUntilDone(stage, described(stage.rate), toJob(stage))
      minutes.push(...parts.map((part, at) => toMeasurement(part, at, stage.seconds / slices)))
      return measurement
    }
    const writeThere = () =>
      peer && peer.measure(stage, there => measurePeer(there, peerDescribed(stage.rate), toJob(there, socketIo)))
    const all = await measureRounds(stage, () => [write, writeThere]).finally(() => peer?.stop())
    const measurements = [...all, ...minutes]
    const comparisons =
      peer === null ? [] : [compare(measurements, label, peerDescribed(stage.rate).label, { isUntilDone: true })]
    const targets = [
      ...toTargets(measurements, label, medians(minutes)),
      ...comparisons.flatMap(one => ratioTarget(one, 'CPU of 1,000', 0.9)),
    ]
    return { measurements, targets: stage.rate === null ? targets : [], comparisons }
  },

  async runElsewhere(stage) {
    const { measurement, parts } = await measureParts(stage, described(stage.rate), toJob(stage))
    const minutes = parts.map((part, at) => toMeasurement(part, at, stage.seconds / slices))
    return {
      measurements: [measurement, ...minutes],
      targets: stage.rate === null ? [waitTarget(measurement.p99Ms!)] : [],
    }
  },
}

function toJob({ server, rooms, rate, seconds }: AnyStage, protocol?: Protocol) {
  return {
    connections: toCompany(rooms.rooms!),
    readers: toReaders(server, rooms.rooms!, listenersOfRoom, { areReading: false, ...(protocol && { protocol }) }),
    perSecond: rate ?? usualRate,
    sliceSeconds: seconds / slices,
  }
}

/** A slice as a measurement of its own. */
export function toMeasurement({ latencies, usage, rssBytes }: Part, at: number, seconds: number): Measurement {
  return {
    label: `${(at * seconds).toFixed(0)} to ${((at + 1) * seconds).toFixed(0)} s`,
    subject: 'parley',
    unit: 'messages',
    perSecond: latencies.count / seconds,
    ...toPercentiles(latencies),
    ...toCosts(usage, rssBytes, latencies.count, false),
  }
}

function toTargets(all: Measurement[], label: string, minutes: Measurement[]): Target[] {
  const costs = minutes.map(({ serverCpu, databaseCpu }) => serverCpu! + databaseCpu!)
  const memory = minutes.map(({ rssMiB }) => rssMiB!)
  return [
    { name: 'CPU of 1,000 in the dearest minute', value: Math.max(...costs), bound: 'at most', limit: 0.9, unit: 's' },
    waitTarget(figureOf(all, label, 'p99Ms')),
    { name: 'memory', value: Math.max(...memory), bound: 'at most', limit: 350, unit: 'MiB' },
    // The heap takes its shape in the first minute.
    {
      name: 'memory, last minute ÷ second',
      value: memory.at(-1)! / memory[1]!,
      bound: 'at most',
      limit: 1.1,
      unit: '×',
    },
    {
      name: 'disk of a message, all done',
      value: figureOf(all, label, 'diskBytes'),
      bound: 'at most',
      limit: 1024,
      unit: 'bytes',
    },
  ]
}

function waitTarget(value: number): Target {
  return { name: 'p99 of the acknowledgement', value, bound: 'at most', limit: 8, unit: 'ms' }
}
