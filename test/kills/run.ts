import { readArguments } from '../../src/lib/process/arguments.ts'
import { createDirectory } from '../support/process.ts'
import { findFaults, runTrial } from './trial.ts'

const usage = `npm run test:kills -- [--seed 1] [--kills 50]

Kills the only node again and again while an agent answers, and looks whether each question has exactly one answer.

--seed     chooses the moments
--kills    how many
`

if (import.meta.main) {
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  const { values } = readArguments(
    {
      options: { seed: { type: 'string', default: '1' }, kills: { type: 'string', default: '50' } },
    },
    usage,
  )
  const [seed, kills] = [Number(values.seed), Number(values.kills)]
  if (!Number.isInteger(seed) || !(Number.isInteger(kills) && kills > 0 && kills <= 1_000)) throw new Error(usage)
  const dir = createDirectory()
  const asked = await runTrial({ seed, kills, dir, say }).finally(() => dir[Symbol.asyncDispose]())
  const faults = findFaults(asked)
  const hit = asked.filter(({ attempts }) => attempts > 0).length
  const givenUp = asked.filter(({ state }) => state === 'failed').length
  say(`seed ${seed}: ${kills} kills, ${asked.length} questions, ${hit} of them hit, ${givenUp} given up`)
  say(faults.length === 0 ? 'Each has exactly one answer.' : faults.join('\n'))
  process.exitCode = faults.length === 0 ? 0 : 1
}
