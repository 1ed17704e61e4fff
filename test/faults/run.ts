import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readArguments } from '../../src/lib/process/arguments.ts'
import { check } from './checker.ts'
import type { Violation } from './checks/violation.ts'
import { skippingReplays, withoutKeys } from './mutants.ts'
import type { Rewrite } from './proxy.ts'
import { tell } from './story.ts'
import { runTrial, type Outcome } from './trial.ts'

const usage = `npm run test:faults -- [--seed 1] [--faults 30] [--minutes 3] [--pause 60]
                          [--only kill] [--mutant keys|replays]

--seed     chooses the faults, what they hit and when; how processes interleave is chosen by the machine
--faults   how many at most
--minutes  how long faults are begun at most; after that, a minute at most until everybody knows everything
--pause    milliseconds between two requests of each of six writers, on average
--only     faults with this in their name
--mutant   breaks a promise on the way between clients and nodes: the run has to find it
`

const mutants: Record<string, Rewrite> = { keys: withoutKeys, replays: skippingReplays }

/** Stories that are told in full; all others are in the folder. */
const shownStories = 8

const results = join(import.meta.dirname, 'results')

function readOptions() {
  const { values } = readArguments(
    {
      options: {
        seed: { type: 'string', default: '1' },
        faults: { type: 'string', default: '30' },
        minutes: { type: 'string', default: '3' },
        pause: { type: 'string', default: '60' },
        only: { type: 'string', default: '' },
        mutant: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    },
    usage,
  )
  const [seed, faults, minutes, pauseMs] = [values.seed, values.faults, values.minutes, values.pause].map(Number)
  const rewrite = values.mutant === undefined ? {} : mutants[values.mutant]
  const isCount = Number.isInteger(seed) && Number.isInteger(faults) && faults! >= 0 && faults! <= 10_000
  if (values.help || rewrite === undefined || !isCount || !(minutes! > 0 && minutes! <= 120) || !(pauseMs! >= 1)) {
    throw new Error(usage)
  }
  return { seed: seed!, faults: faults!, minutes: minutes!, pauseMs: pauseMs!, only: values.only, rewrite }
}

/** Everything that is needed to find out what went wrong. */
function keep(seed: number, { history, logs }: Outcome, stories: string[]): string {
  const folder = join(results, `seed-${seed}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'history.json'), JSON.stringify(history))
  writeFileSync(join(folder, 'stories.txt'), `${stories.join('\n\n')}\n`)
  for (const [i, log] of logs.entries()) writeFileSync(join(folder, `node-${i + 1}.log`), log)
  return folder
}

function summarise({ history, deaths }: Outcome, violations: Violation[]): string {
  const { calls, sightings, deliveries, faults, end } = history
  const open = calls.filter(({ status }) => status === null || status === 503).length
  const told = sightings.native.length + sightings.hub.length
  return [
    `${faults.length} faults, ${calls.length} requests (${open} without an answer or with 503), `,
    `${end.messages.length} messages, ${end.events.length} events, ${told} frames, ${deliveries.length} deliveries: `,
    `${violations.length} violations, ${deaths.length} nodes ended by themselves`,
  ].join('')
}

if (import.meta.main) {
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  const options = readOptions()
  say(`seed ${options.seed}`)
  const leaving = new AbortController()
  // The processes are ours to end; a second signal ends this one.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => leaving.abort())
  const outcome = await runTrial({ ...options, say, signal: leaving.signal })
  const violations = check(outcome.history)
  say(summarise(outcome, violations))
  if (violations.length > 0 || outcome.deaths.length > 0) {
    const deaths = outcome.deaths.map(({ node, words }) => `node ${node} ${words}`)
    const stories = [...deaths, ...violations.map(violation => tell(violation, outcome.history))]
    const rules = Map.groupBy(violations, ({ rule }) => rule)
    for (const [rule, broken] of rules) say(`  ${broken.length} × ${rule}`)
    say(`\n${stories.slice(0, shownStories).join('\n\n')}\n`)
    say(`seed ${options.seed} fails; history, stories and logs are in ${keep(options.seed, outcome, stories)}`)
    process.exitCode = 1
  }
}
