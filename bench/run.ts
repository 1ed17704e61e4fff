import { isDeepStrictEqual } from 'node:util'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { medians } from './figures.ts'
import { Generator } from './load/generator.ts'
import { describeMachine } from './machine.ts'
import { readOptions, type Options } from './options.ts'
import { Parley } from './parley.ts'
import { printScenario, printVerdict } from './print.ts'
import { describeProfiles } from './profile.ts'
import { toPage, type Report, type ScenarioReport } from './report.ts'
import type { Scenario } from './stage.ts'
import { makeRooms, type Need, type Room } from './world.ts'
import { canYield } from './yielding.ts'

const results = join(import.meta.dirname, 'results')

async function run({ scenarios, seconds, rounds, profile }: Options): Promise<void> {
  mkdirSync(results, { recursive: true })
  const startedAt = new Date()
  const say = (line: string) =>
    process.stderr.write(`${((Date.now() - startedAt.getTime()) / 1000).toFixed(0).padStart(4)} s  ${line}\n`)
  const name = startedAt.toISOString().slice(0, 19).replaceAll(':', '')
  const profiles = join(results, `${name}-profiles`)

  const collecting = ['--expose-gc', '--import', join(import.meta.dirname, 'collect-on-signal.ts')]
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : []
  const parley = new Parley([...collecting, ...profiling])
  const load = new Generator()
  const end = async () => {
    load.stop()
    await parley.stop()
  }
  // The children are ours to end, and the folder with the data is ours to remove.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end().finally(() => process.exit(130)))

  try {
    if (!canYield) say('there is no chrt: the load generator will cut into the work of the servers')
    say('starts the server')
    await parley.start()
    const machine = await describeMachine(parley)
    const rooms = await makeWorld(parley, scenarios, say)
    await parley.restart()

    const reports: ScenarioReport[] = []
    for (const [at, scenario] of scenarios.entries()) {
      say(`${scenario.name}: ${scenario.question}`)
      if ((scenario.isFresh && at > 0) || profile) await parley.restart()
      const outcome = await scenario.run({ parley, load, rooms, seconds, rounds, say: line => say(`  ${line}`) })
      const { question, figure } = scenario
      reports.push({ name: scenario.name, question, figure, ...outcome, medians: medians(outcome.measurements) })
    }
    const report: Report = { startedAt: startedAt.toISOString(), machine, seconds, rounds, scenarios: reports }
    writeFileSync(join(results, `${name}.json`), JSON.stringify(report, null, 2))
    writeFileSync(join(results, `${name}.html`), toPage(report))

    for (const scenario of reports) printScenario(scenario)
    printVerdict(report)
    process.stdout.write(`\nbench/results/${name}.html and .json\n`)
  } finally {
    await end()
  }
  if (profile) describeProfiles(profiles)
}

/** Everything that the scenarios need, made before any of them runs. */
async function makeWorld(parley: Parley, scenarios: Scenario[], say: (line: string) => void) {
  const needs = new Map<string, Need>()
  for (const scenario of scenarios) {
    for (const [name, need] of Object.entries(scenario.needs)) {
      if (!isDeepStrictEqual(needs.get(name) ?? need, need)) throw new Error(`Scenarios do not agree on "${name}"`)
      needs.set(name, need)
    }
  }
  const rooms: Record<string, Room[]> = {}
  for (const [name, need] of needs) {
    say(`makes ${need.rooms} × ${need.members} people${need.messages > 0 ? ` and ${need.messages} messages` : ''}`)
    rooms[name] = await makeRooms(parley, need)
  }
  say('fills the log of the database')
  await parley.fillLog()
  return rooms
}

try {
  await run(readOptions(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`)
  process.exitCode = 1
}
