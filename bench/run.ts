import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { measureBulk } from './bulk/run.ts'
import type { Elsewhere } from './elsewhere.ts'
import { medians } from './figures.ts'
import { measureLists } from './large/run.ts'
import { Generator } from './load/generator.ts'
import { describeElsewhere, describeMachine } from './machine.ts'
import { readOptions, type Options } from './options.ts'
import { Parley } from './parley.ts'
import { install } from './peers/packages.ts'
import { printScenario, printVerdict } from './print.ts'
import { describeProfiles } from './profile.ts'
import { toPage, type Report, type ScenarioReport } from './report.ts'
import type { Server } from './server.ts'
import type { AnyStage, Outcome, Scenario } from './stage.ts'
import { makeRooms, removeRooms, type Need, type Room } from './world.ts'
import { canYield } from './yielding.ts'

/** How long a measurement takes, and how often it is repeated, where nothing else is said. */
const usual = { seconds: 5, rounds: 3 }
const trial = { seconds: 0.4, rounds: 1 }

/** What a trial makes of rooms. */
const trialNeed: Need = { rooms: 4, members: 12, messages: 60 }

type Say = (line: string) => void

async function run(options: Options): Promise<void> {
  const { elsewhere, out, profile } = options
  mkdirSync(out, { recursive: true })
  const startedAt = new Date()
  const say = (line: string) =>
    void process.stderr.write(`${((Date.now() - startedAt.getTime()) / 1000).toFixed(0).padStart(4)} s  ${line}\n`)
  const name = startedAt.toISOString().slice(0, 19).replaceAll(':', '')
  const profiles = join(out, `${name}-profiles`)
  if (options.large !== null) {
    const measure = options.isBulk ? measureBulk : measureLists
    process.exitCode = (await measure(options.large, say)) ? 0 : 1
    return
  }
  if (!canYield) say('there is no chrt: the load generator will cut into the work of the servers')

  const measured = elsewhere === null ? runHere(options, profiles, say) : runElsewhere(options, elsewhere, say)
  const report: Report = { startedAt: startedAt.toISOString(), ...(await measured) }
  writeFileSync(join(out, `${name}.json`), JSON.stringify(report, null, 2))
  writeFileSync(join(out, `${name}.html`), toPage(report))
  for (const scenario of report.scenarios) printScenario(scenario)
  printVerdict(report)
  process.stdout.write(`\n${join(out, name)}.html and .json\n`)
  if (profile) describeProfiles(profiles)
}

type Measured = Omit<Report, 'startedAt'>

/** Starts a server, and measures that. */
async function runHere(options: Options, profiles: string, say: Say): Promise<Measured> {
  const { scenarios, profile, isTrial, comparesPeers } = options
  if (comparesPeers) install(say)
  const collecting = ['--expose-gc', '--import', join(import.meta.dirname, 'collect-on-signal.ts')]
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : []
  const parley = new Parley([...collecting, ...profiling])
  return withLoad(
    async load => {
      say('starts the server')
      await parley.start()
      const machine = await describeMachine(parley)
      const rooms = await makeWorld(parley, options, say)
      if (!isTrial) {
        say('fills the log of the database')
        await parley.fillLog()
      }
      await parley.restart()
      const reports: ScenarioReport[] = []
      for (const [at, scenario] of scenarios.entries()) {
        if ((scenario.isFresh && at > 0) || profile) await parley.restart()
        const stage = { server: parley, parley, load, rooms, comparesPeers }
        reports.push(await perform(scenario, options, say, all => scenario.run({ ...all, ...stage })))
      }
      return { machine, scenarios: reports }
    },
    () => parley.stop(),
  )
}

/** Measures a server that is there, and deletes what was made on it. */
async function runElsewhere(options: Options, server: Elsewhere, say: Say): Promise<Measured> {
  const made: Room[] = []
  const clear = async () => {
    say('deletes what was made')
    await removeRooms(server, made.splice(0))
  }
  return withLoad(async load => {
    const machine = await describeElsewhere(server)
    const rooms = await makeWorld(server, options, say, room => made.push(room))
    const reports: ScenarioReport[] = []
    for (const scenario of options.scenarios) {
      const stage = { server, load, rooms }
      reports.push(await perform(scenario, options, say, all => scenario.runElsewhere!({ ...all, ...stage })))
    }
    return { machine, scenarios: reports }
  }, clear)
}

/** Does something with a load generator, and whatever becomes of it, `end` in the end. */
async function withLoad<Result>(work: (load: Generator) => Promise<Result>, end: () => Promise<void>): Promise<Result> {
  const load = new Generator()
  let ended: Promise<void> | null = null
  // Once: what is measured fails while it is being ended, and would end it again.
  const endAll = () => {
    load.stop()
    ended ??= end()
    return ended
  }
  // The children are ours to end, and what was made is ours to remove.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void endAll().finally(() => process.exit(130)))
  try {
    return await work(load)
  } finally {
    await endAll()
  }
}

type Common = Pick<AnyStage, 'seconds' | 'rounds' | 'rate' | 'isTrial' | 'only' | 'say'>

async function perform(
  scenario: Scenario,
  options: Options,
  say: Say,
  run: (common: Common) => Promise<Outcome>,
): Promise<ScenarioReport> {
  const { name, question, figure } = scenario
  const { rate, isTrial, only } = options
  say(`${name}: ${question}`)
  const own = isTrial ? trial : { ...usual, ...scenario }
  const seconds = options.seconds ?? own.seconds
  const rounds = options.rounds ?? own.rounds
  const outcome = await run({ seconds, rounds, rate, isTrial, only, say: line => say(`  ${line}`) })
  return { name, question, figure, ...outcome, medians: medians(outcome.measurements) }
}

/** Everything that the scenarios need, made before any of them runs. */
async function makeWorld(
  server: Server | Parley,
  { scenarios, isTrial }: Options,
  say: Say,
  onRoom: (room: Room) => void = () => {},
): Promise<Record<string, Room[]>> {
  const needs = new Map<string, Need>()
  for (const scenario of scenarios) {
    for (const [name, need] of Object.entries(scenario.needs)) {
      if (!isDeepStrictEqual(needs.get(name) ?? need, need)) throw new Error(`Scenarios do not agree on "${name}"`)
      needs.set(name, need)
    }
  }
  const rooms: Record<string, Room[]> = {}
  for (const [name, whole] of needs) {
    const need = isTrial ? smaller(whole) : whole
    say(`makes ${need.rooms} × ${need.members} people${need.messages > 0 ? ` and ${need.messages} messages` : ''}`)
    rooms[name] = await makeRooms(server, need)
    rooms[name].forEach(onRoom)
  }
  return rooms
}

function smaller({ rooms, members, messages }: Need): Need {
  return {
    rooms: Math.min(rooms, trialNeed.rooms),
    members: Math.min(members, trialNeed.members),
    messages: Math.min(messages, trialNeed.messages),
  }
}

try {
  await run(readOptions(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`)
  process.exitCode = 1
}
