import type { Sql } from 'postgres'
import type { Measurement, Target } from '../figures.ts'
import { measureParts, measureUntilDone, toCosts, toPercentiles, type Part } from '../measure.ts'
import type { AnyStage, Scenario } from '../stage.ts'
import { smallRooms, toCompany, toReaders } from '../traffic.ts'

const usualRate = 200
const slices = 3
const listenersOfRoom = 4
const described = (rate: number | null) =>
  ({ label: `Parley, ${rate ?? usualRate} messages a second`, subject: 'parley', unit: 'messages' }) as const

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

  async run(stage) {
    const { sql } = stage.parley
    const sizeBefore = await databaseBytes(sql)
    const { measurement, parts, operations } = await measureUntilDone(stage, described(stage.rate), toJob(stage))
    const diskBytes = ((await databaseBytes(sql)) - sizeBefore) / operations
    const minutes = parts.map((part, at) => toMeasurement(part, at, stage.seconds / slices))
    const targets = stage.rate === null ? toTargets(measurement, minutes, diskBytes) : []
    return { measurements: [measurement, ...minutes], targets }
  },

  async runElsewhere(stage) {
    const { measurement, parts } = await measureParts(stage, described(stage.rate), toJob(stage))
    const minutes = parts.map((part, at) => toMeasurement(part, at, stage.seconds / slices))
    return { measurements: [measurement, ...minutes], targets: stage.rate === null ? [waitTarget(measurement)] : [] }
  },
}

function toJob({ server, rooms, rate, seconds }: AnyStage) {
  return {
    connections: toCompany(rooms.rooms!),
    readers: toReaders(server, rooms.rooms!, listenersOfRoom, { areReading: false }),
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

function toTargets(all: Measurement, minutes: Measurement[], diskBytes: number): Target[] {
  const costs = minutes.map(({ serverCpu, databaseCpu }) => serverCpu! + databaseCpu!)
  const memory = minutes.map(({ rssMiB }) => rssMiB!)
  return [
    { name: 'CPU of 1,000 in the dearest minute', value: Math.max(...costs), bound: 'at most', limit: 0.9, unit: 's' },
    waitTarget(all),
    { name: 'memory', value: Math.max(...memory), bound: 'at most', limit: 350, unit: 'MiB' },
    // The heap takes its shape in the first minute.
    {
      name: 'memory, last minute ÷ second',
      value: memory.at(-1)! / memory[1]!,
      bound: 'at most',
      limit: 1.1,
      unit: '×',
    },
    { name: 'disk of a message, all done', value: diskBytes, bound: 'at most', limit: 1024, unit: 'bytes' },
  ]
}

function waitTarget({ p99Ms }: Measurement): Target {
  return { name: 'p99 of the acknowledgement', value: p99Ms!, bound: 'at most', limit: 8, unit: 'ms' }
}

/** What tables and indexes take on the disk. */
export async function databaseBytes(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: string }[]>`select pg_database_size(current_database()) as bytes`
  return Number(row!.bytes)
}
