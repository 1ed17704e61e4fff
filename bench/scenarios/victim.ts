import { native } from '../crowd.ts'
import { untilDone } from '../drain.ts'
import { median, ratioOf, type Measurement, type Target } from '../figures.ts'
import type { Flooded } from '../load/flood.ts'
import { Generator } from '../load/generator.ts'
import { toRequest } from '../load/http-connection.ts'
import { wait } from '../load/pace.ts'
import type { PacedJob } from '../load/paced.ts'
import { toPercentiles } from '../measure.ts'
import { measureRounds } from '../rounds.ts'
import type { Scenario, Stage } from '../stage.ts'
import { newestPage } from '../traffic.ts'
import type { Person } from '../world.ts'
import { readRssBytes, readUsage, shareOfOthers, usageBetween } from '../usage.ts'
import { makeFloods, type Flood } from '../victim/floods.ts'

/** Requests of the victim: half of them sends, a quarter pages, a quarter notifications. */
const perSecond = 20

const quiet = 'quiet'

/** What became of a flood in one round, and what it took. */
interface Round {
  name: string
  p95Ms: number
  maxMs: number
  flooded: Flooded
  peakMiB: number
  cpu: { server: number; database: number; load: number; flood: number; others: number }
}

/**
 * What does one user notice of what another does? The victim sends, and reads a list and notifications, as before; beside
 * it, one other user floods the server. What counts is the wait beside the flood against the wait without.
 */
export const victim: Scenario = {
  name: 'victim',
  question: 'How long does one user wait beside the floods of another?',
  figure: 'p95 of the victim beside a flood ÷ quiet',
  needs: {
    home: { rooms: 1, members: 3, messages: 1_000 },
    shared: { rooms: 1, members: 10, messages: 20_000 },
    everyone: { rooms: 1, members: 500, messages: 0 },
    guests: { rooms: 1, members: 490, messages: 0 },
  },

  async run(stage) {
    const { parley, rooms, say } = stage
    const [home, shared, everyone] = [rooms.home![0]!, rooms.shared![0]!, rooms.everyone![0]!]
    const [ann, flooder] = [home.members[0]!, shared.members[0]!]
    const add = (app: string, people: Person[]) => {
      const members = people.map(({ id }) => ({ user: Number(id) }))
      return parley.call('PUT', `/api/apps/${app}/members`, members)
    }
    await add(shared.app, [ann])
    await add(everyone.app, [...rooms.guests![0]!.members, ann, flooder])
    const place = { room: shared.app, crowd: everyone.app, crowdMembers: everyone.members, flooder }
    const floods = (await makeFloods(parley, place)).filter(({ name }) => name.includes(stage.only))
    await untilDone(parley, stage.load.pid, stage.isTrial)
    const send = toRequest('POST', `/api/apps/${shared.app}/messages`, ann.token, { text: 'Good morning, everybody' })
    const mix = [
      send,
      toRequest('GET', newestPage(home.app), ann.token),
      send,
      toRequest('GET', '/api/notifications', ann.token),
    ]
    const rounds: Round[] = []
    const flooding = new Generator()
    const measure = async (flood: Flood | null): Promise<Measurement> => {
      const { measurement, round } = await measureBeside(stage, mix, flood, flooding)
      rounds.push(round)
      say(describe([round]))
      return measurement
    }
    let measurements: Measurement[]
    try {
      measurements = await measureRounds(stage, () => [null, ...floods].map(flood => () => measure(flood)))
    } finally {
      flooding.stop()
    }
    const targets = floods.map(({ name }): Target => {
      const value = ratioOf(measurements, name, quiet, 'p95Ms')
      return { name: `p95 beside ${name} ÷ quiet`, value, bound: 'at most', limit: 3, unit: '×' }
    })
    const notes = [...Map.groupBy(rounds, ({ name }) => name).values()].map(describe)
    return { measurements, targets, notes }
  },
}

async function measureBeside(stage: Stage, mix: string[], flood: Flood | null, flooding: Generator) {
  const { parley, load, seconds, isTrial } = stage
  const label = flood?.name ?? quiet
  const [server] = parley.origins
  let peakBytes = 0
  const watch = setInterval(() => (peakBytes = Math.max(peakBytes, readRssBytes(parley.processes.servers[0]!))), 100)
  const read = () => ({
    beside: readUsage({ ...parley.processes, load: flooding.pid }),
    loadSeconds: readUsage({ ...parley.processes, load: load.pid }).loadSeconds,
  })
  let before = read()
  let after = before
  const warmupSeconds = isTrial ? 0.1 : 1
  const job: PacedJob = { kind: 'paced', servers: [server!], connections: [mix], perSecond, seconds, warmupSeconds }
  const run = () =>
    load.run(job, notice => {
      if (notice === 'started') before = read()
      if (notice === 'ended') after = read()
    })
  let flooded: Flooded = {}
  let recorded: Awaited<ReturnType<typeof run>> | undefined
  try {
    if (flood === null) recorded = await run()
    else {
      const { connections, requests, sockets } = flood
      const more = sockets && {
        sockets: { ...sockets, path: native.path, token: stage.rooms.shared![0]!.members[0]!.token },
      }
      flooded = await flooding.hold({ kind: 'flood', server: server!, connections, requests, ...more }, async () => {
        ;[recorded] = await Promise.all([run(), flood.begin?.()])
      })
    }
  } finally {
    clearInterval(watch)
  }
  const { failures, latencies, operations } = recorded!
  // What the flood leaves behind is not the next one's.
  if (!isTrial) await wait(1)
  const usage = usageBetween(before.beside, after.beside)
  const loadSeconds = after.loadSeconds - before.loadSeconds
  const all = { ...usage, loadSeconds: usage.loadSeconds + loadSeconds }
  const measurement: Measurement = {
    label,
    subject: flood === null ? 'baseline' : 'parley',
    unit: 'requests of the victim',
    perSecond: operations / seconds,
    ...toPercentiles(latencies),
    // One that is refused, or waits for more than ten seconds, waits for ever; so does one of whom nothing was answered.
    ...((failures > 0 || operations === 0) && { p95Ms: Number.POSITIVE_INFINITY }),
    serverCpu: null,
    databaseCpu: null,
    loadCpu: null,
    diskBytes: null,
    rssMiB: peakBytes / 1024 / 1024,
    others: shareOfOthers(all),
  }
  const round: Round = {
    name: label,
    p95Ms: measurement.p95Ms ?? Number.NaN,
    // Null where nothing was answered: what has no number does not pass through JSON.
    maxMs: latencies.maxMs ?? Number.NaN,
    flooded,
    peakMiB: peakBytes / 1024 / 1024,
    cpu: {
      server: usage.serverSeconds,
      database: usage.databaseSeconds,
      load: loadSeconds,
      flood: usage.loadSeconds,
      others: shareOfOthers(all),
    },
  }
  return { measurement, round }
}

/** Medians of the rounds of one flood, and the sums of its answers. */
function describe(rounds: Round[]): string {
  const middle = (pick: (round: Round) => number, decimals = 1) => median(rounds.map(pick)).toFixed(decimals)
  const answers = new Map<string, number>()
  for (const { flooded } of rounds)
    for (const [what, count] of Object.entries(flooded)) answers.set(what, (answers.get(what) ?? 0) + count)
  const counted = [...answers].map(([what, count]) => `${what}: ${count}`).join(', ')
  const cpu = (['server', 'database', 'flood', 'load'] as const).map(of => `${of} ${middle(({ cpu }) => cpu[of])}`)
  return `${rounds[0]!.name}: p95 ${middle(({ p95Ms }) => p95Ms)} ms, max ${middle(({ maxMs }) => maxMs)} ms, memory ${middle(({ peakMiB }) => peakMiB, 0)} MiB, CPU s: ${cpu.join(', ')}; ${counted}`
}
