import { hall, native, toJob } from '../crowd.ts'
import { untilDone, untilNothingWaits } from '../drain.ts'
import { ratioOf, type Measurement, type Target } from '../figures.ts'
import { measureBroadcast, measureExchange } from '../measure.ts'
import type { Formation } from '../parley.ts'
import { RedisProcess } from '../redis.ts'
import type { Scenario, Stage } from '../stage.ts'
import { smallRooms, toReads, toSends } from '../traffic.ts'
import type { Room } from '../world.ts'

const connections = 64

/** Which node a connection comes to: that of its room, as with a balancer that hashes the app, or any. */
type Spread = 'hashed' | 'at random'

type Work = 'sends' | 'pages' | 'sends to one room' | 'deliveries'

/** A set-up, and what is measured with it. */
interface Setup {
  name: string
  nodes: number
  hasRedis: boolean
  works: [Work, Spread][]
}

const single = '1 node without Redis'

const setups: Setup[] = [
  {
    name: single,
    nodes: 1,
    hasRedis: false,
    works: [
      ['sends', 'at random'],
      ['pages', 'at random'],
      ['sends to one room', 'at random'],
      ['deliveries', 'at random'],
    ],
  },
  {
    name: '1 node',
    nodes: 1,
    hasRedis: true,
    works: [
      ['sends', 'at random'],
      ['pages', 'at random'],
    ],
  },
  {
    name: '2 nodes',
    nodes: 2,
    hasRedis: true,
    works: [
      ['sends', 'hashed'],
      ['pages', 'hashed'],
      ['sends', 'at random'],
      ['pages', 'at random'],
    ],
  },
  {
    name: '3 nodes',
    nodes: 3,
    hasRedis: true,
    works: [
      ['sends', 'hashed'],
      ['sends', 'at random'],
      ['pages', 'at random'],
      ['sends to one room', 'at random'],
      ['deliveries', 'at random'],
    ],
  },
]

/** The bounds of one set-up, as ratios to a single node without Redis. */
interface Bounds {
  name: string
  spread: Spread
  sends: number
  cost: number
  /** Of the database alone, which is what nodes on machines of their own share. */
  database: number
  pages?: number
}

const bounds: Bounds[] = [
  { name: '1 node', spread: 'at random', sends: 0.95, cost: 1.05, database: 1.4, pages: 0.95 },
  { name: '2 nodes', spread: 'hashed', sends: 0.8, cost: 1.6, database: 1.4, pages: 0.85 },
  { name: '2 nodes', spread: 'at random', sends: 0.9, cost: 1.4, database: 1.4, pages: 0.85 },
  { name: '3 nodes', spread: 'at random', sends: 0.8, cost: 1.7, database: 1.6, pages: 0.8 },
]

/** What the 99th percentile of waits with three nodes may be of a single one's. */
const waitBound = 2

/**
 * What does a node add? Nodes, Redis and database share one machine here, so that the same work at the same cost would be
 * perfect. What counts is each set-up against a single node without Redis.
 */
export const nodes: Scenario = {
  name: 'nodes',
  question: 'What do the same sends, pages and deliveries take on one, two and three nodes?',
  figure: 'sends a second, pages a second and processor time ÷ those of one node without Redis',
  needs: { rooms: smallRooms, hall },
  seconds: 3,
  rounds: 5,

  async run(stage) {
    const redis = await RedisProcess.start()
    if (redis === null) stage.say('skips what needs Redis: no redis-server is installed on this machine')
    // A trial shows that it works with the first and a second node.
    const wanted = chooseSetups(stage.isTrial ? '2 nodes' : stage.only)
    const possible = wanted.filter(({ hasRedis }) => redis !== null || !hasRedis)
    const measurements: Measurement[] = []
    try {
      for (let round = 0; round < stage.rounds; round++) {
        for (const setup of round % 2 === 0 ? possible : possible.toReversed()) {
          const formation: Formation = { nodes: setup.nodes, redis: setup.hasRedis ? redis : null }
          await stage.parley.restart(formation)
          await warmUp(stage, setup)
          for (const [work, spread] of setup.works) {
            const measurement = await measure(stage, setup, work, spread)
            measurements.push(measurement)
            stage.say(`${measurement.label}: ${Math.round(measurement.perSecond!)}/s`)
          }
        }
      }
      await stage.parley.restart()
    } finally {
      await redis?.stop()
    }
    const skipped = redis === null ? ['Skipped: what needs Redis, as there is no redis-server on this machine.'] : []
    const notes = ["Redis's processor time is counted with the servers.", ...skipped]
    return { measurements, targets: redis === null || stage.isTrial ? [] : toTargets(measurements), notes }
  },
}

/** Set-ups with this in their name, and of the single node without Redis what they are compared with. */
function chooseSetups(only: string): Setup[] {
  const [first, ...others] = setups
  const chosen = others.filter(({ name }) => name.includes(only))
  if (chosen.length === 0) throw new Error(`No set-up of "nodes" has "${only}" in its name`)
  const works = new Set(chosen.flatMap(({ works }) => works.map(([work]) => work)))
  return [{ ...first!, works: first!.works.filter(([work]) => works.has(work)) }, ...chosen]
}

const toLabel = (setup: string, work: Work, spread: Spread) =>
  `${setup}, ${work}${setup.startsWith('1') ? '' : `, ${spread}`}`

/** How long each node is warmed up by each work. Within the first few seconds a send comes to take two thirds (measured). */
const warmUpSeconds = 2

/**
 * Node.js compiles what it runs often, later where it runs less: so each node gets as many requests as a single one,
 * alone; then all of them get some together, as only then commands go from one to another, and what each sends to
 * listeners it sends to its own.
 */
async function warmUp(stage: Stage, setup: Setup): Promise<void> {
  const some = { ...stage, seconds: stage.isTrial ? stage.seconds : warmUpSeconds }
  for (let node = 0; node < setup.nodes; node++) {
    for (const work of ['sends', 'pages'] as const) {
      const job = { connections: toConnections(stage.rooms.rooms!, work), places: Array(connections).fill(node) }
      await measureExchange(some, { label: 'Warm-up', subject: 'parley', unit: work }, job)
    }
  }
  if (setup.nodes > 1) await measure(some, setup, 'sends', 'at random')
  if (setup.works.some(([work]) => work === 'deliveries')) await measure(some, setup, 'deliveries', 'at random')
}

/** Begins when nothing is left to do of what was done before: a node that is in a rush puts that off, for some seconds. */
async function measure(stage: Stage, { name, nodes }: Setup, work: Work, spread: Spread): Promise<Measurement> {
  await untilNothingWaits(stage.parley)
  const described = { label: toLabel(name, work, spread), subject: name === single ? 'baseline' : 'parley' } as const
  const rooms = stage.rooms.rooms!
  if (work === 'deliveries') {
    // Of so few messages, what is unread of those before would be a half of the processor time, now here, now there.
    await untilDone(stage.parley, stage.load.pid, stage.isTrial)
    const job = toJob(stage.rooms.hall![0]!, native, stage)
    return (await measureBroadcast(stage, { ...described, unit: 'deliveries' }, job)).measurement
  }
  const places = Array.from({ length: connections }, (_, at) => toPlace(at, rooms.length, spread) % nodes)
  const unit = work === 'pages' ? 'pages' : 'sends'
  return measureExchange(stage, { ...described, unit }, { connections: toConnections(rooms, work), places })
}

function toConnections(rooms: Room[], work: Exclude<Work, 'deliveries'>): string[][] {
  if (work === 'pages') return toReads(rooms, connections)
  return toSends(work === 'sends' ? rooms : rooms.slice(0, 1), connections)
}

/** Where a connection goes; at random, those of the same room come to different nodes. */
function toPlace(connection: number, rooms: number, spread: Spread): number {
  const room = connection % rooms
  return spread === 'hashed' ? room : room + Math.floor(connection / rooms)
}

function toTargets(measurements: Measurement[]): Target[] {
  const targets: Target[] = []
  const add = (name: string, value: number, bound: Target['bound'], limit: number) =>
    targets.push({ name: `${name} ÷ ${single}`, value, bound, limit, unit: '×' })
  const isMeasured = (label: string) => measurements.some(measurement => measurement.label === label)
  for (const { name, spread, sends, cost, database, pages } of bounds) {
    const label = toLabel(name, 'sends', spread)
    if (!isMeasured(label)) continue
    const baseline = toLabel(single, 'sends', spread)
    add(label, ratioOf(measurements, label, baseline), 'at least', sends)
    add(`${label}, CPU`, costRatioOf(measurements, label, baseline), 'at most', cost)
    add(`${label}, CPU of the database`, ratioOf(measurements, label, baseline, 'databaseCpu'), 'at most', database)
    if (name === '3 nodes') add(`${label}, p99`, ratioOf(measurements, label, baseline, 'p99Ms'), 'at most', waitBound)
    const read = toLabel(name, 'pages', spread)
    const rate = ratioOf(measurements, read, toLabel(single, 'pages', spread))
    if (pages !== undefined) add(read, rate, 'at least', pages)
  }
  const [shared, told] = (['sends to one room', 'deliveries'] as const).map(work => ({
    label: toLabel('3 nodes', work, 'at random'),
    baseline: toLabel(single, work, 'at random'),
  }))
  if (!isMeasured(shared!.label)) return targets
  add(shared!.label, ratioOf(measurements, shared!.label, shared!.baseline), 'at least', 0.7)
  add(`${shared!.label}, CPU`, costRatioOf(measurements, shared!.label, shared!.baseline), 'at most', 2)
  add(`${told!.label}, CPU`, costRatioOf(measurements, told!.label, told!.baseline), 'at most', 1.3)
  return targets
}

/** The median over the rounds of what one takes of the processors' time, servers and database, to what the other takes. */
function costRatioOf(measurements: Measurement[], label: string, baseline: string): number {
  const all = measurements.map(one => ({ ...one, serverCpu: one.serverCpu! + one.databaseCpu! }))
  return ratioOf(all, label, baseline, 'serverCpu')
}
