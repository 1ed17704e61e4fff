import { setTimeout as delay } from 'node:timers/promises'
import { readGauge } from '../drain.ts'
import { median, type Measurement, type Target } from '../figures.ts'
import { measureParts, measureUntilDone } from '../measure.ts'
import type { Scenario, Stage } from '../stage.ts'
import { smallRooms, toCompany, toReaders, toSends } from '../traffic.ts'
import { toMeasurement } from './steady.ts'

/** The first and the last of these are compared. */
const slices = 3
const listenersOfRoom = 4
const probeSeconds = 20
const described = { label: 'Parley', subject: 'parley', unit: 'messages' } as const

/** What is looked at besides what every scenario looks at. */
interface Look {
  lagP99Ms: number
  deadRows: number
  diskBytes: number
}

/**
 * Is a server the same after half an hour? What grows slowly shows in no other scenario. What counts is the last ten
 * minutes beside the first ten.
 */
export const soak: Scenario = {
  name: 'soak',
  question: 'Is the server the same after half an hour at a tenth of the rate that it can keep up?',
  figure: 'the last third of the time beside the first',
  needs: { rooms: smallRooms },
  isFresh: true,
  isByHand: true,
  seconds: 1800,
  rounds: 1,
  takesRate: true,

  async run(stage) {
    const rate = stage.rate ?? (await findRate(stage)) / 10
    stage.say(`${rate.toFixed(0)} messages a second`)
    const sliceSeconds = stage.seconds / slices
    const [{ parts }, looks] = await Promise.all([
      measureParts(stage, described, {
        connections: toCompany(stage.rooms.rooms!),
        readers: toReaders(stage.server, stage.rooms.rooms!, listenersOfRoom, { areReading: false }),
        perSecond: rate,
        sliceSeconds,
      }),
      lookAtTimes(stage, sliceSeconds),
    ])
    const measurements = parts.map((part, at) => toMeasurement(part, at, sliceSeconds))
    return {
      measurements,
      targets: toTargets(
        measurements,
        looks,
        parts.map(({ latencies }) => latencies.count),
      ),
      notes: looks.map(
        ({ lagP99Ms, deadRows, diskBytes }, at) =>
          `After ${(at * sliceSeconds).toFixed(0)} s: event-loop lag p99 ${lagP99Ms.toFixed(1)} ms, ` +
          `${deadRows} dead rows, ${(diskBytes / 1024 / 1024).toFixed(0)} MiB on the disk.`,
      ),
    }
  },
}

/** At the beginning, and after each slice. */
async function lookAtTimes(stage: Stage, sliceSeconds: number): Promise<Look[]> {
  // The first sets back what counts from look to look.
  const looks = [await look(stage)]
  for (let slice = 0; slice < slices; slice++) {
    await delay(sliceSeconds * 1000)
    looks.push(await look(stage))
  }
  return looks
}

/** Messages a second that can be kept up. */
async function findRate(stage: Stage): Promise<number> {
  const seconds = Math.min(stage.seconds, probeSeconds)
  const job = { connections: toSends(stage.rooms.rooms!, 64) }
  const { measurement } = await measureUntilDone({ ...stage, seconds }, described, job)
  return measurement.perSecond!
}

async function look({ parley }: Stage): Promise<Look> {
  const { host, port } = parley.origins[0]!
  const metrics = await (await fetch(`http://${host}:${port}/metrics`)).text()
  const [row] = await parley.sql<{ dead: string }[]>`select sum(n_dead_tup) as dead from pg_stat_user_tables`
  return {
    lagP99Ms: readGauge(metrics, 'nodejs_eventloop_lag_p99_seconds') * 1000,
    deadRows: Number(row!.dead),
    diskBytes: await parley.databaseBytes(),
  }
}

function toTargets(measurements: Measurement[], looks: Look[], counts: number[]): Target[] {
  const growth = (values: number[]) => values.at(-1)! / values[0]!
  const costs = measurements.map(({ serverCpu, databaseCpu }) => serverCpu! + databaseCpu!)
  const disk = counts.map((count, at) => (looks[at + 1]!.diskBytes - looks[at]!.diskBytes) / count)
  const bounded = (name: string, values: number[]): Target => ({
    name: `${name}, last third ÷ first`,
    value: growth(values),
    bound: 'at most',
    limit: 1.1,
    unit: '×',
  })
  return [
    bounded('CPU of 1,000', costs),
    bounded(
      'memory',
      measurements.map(({ rssMiB }) => rssMiB!),
    ),
    bounded(
      'event-loop lag, p99',
      looks.slice(1).map(({ lagP99Ms }) => lagP99Ms),
    ),
    bounded('disk of a message', disk),
    { name: 'disk of a message', value: median(disk), bound: 'at most', limit: 1024, unit: 'bytes' },
  ]
}
