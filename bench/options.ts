import { parseArgs } from 'node:util'
import type { Scenario } from './stage.ts'
import { deep } from './scenarios/deep.ts'
import { fanOut } from './scenarios/fan-out.ts'
import { history } from './scenarios/history.ts'
import { hub } from './scenarios/hub.ts'
import { idle } from './scenarios/idle.ts'
import { mark } from './scenarios/mark.ts'
import { reconnect } from './scenarios/reconnect.ts'
import { send } from './scenarios/send.ts'

/**
 * In the order in which they run: the one that wants a fresh server first; reading before what leaves notifications to be
 * made; those that fill the disk or restart the server last.
 */
export const scenarios: Scenario[] = [idle, history, send, fanOut, hub, mark, deep, reconnect]

export interface Options {
  scenarios: Scenario[]
  seconds: number
  rounds: number
  profile: boolean
}

const usage = `npm run bench -- [scenario …] [--seconds 5] [--rounds 3] [--profile]

scenarios: ${scenarios.map(({ name }) => name).join(', ')}; without any, all
--seconds  how long each measurement takes
--rounds   how often each is repeated; figures are medians
--profile  writes CPU profiles of the server to bench/results and says where its time goes
`

/** What was asked for; throws the usage where that makes no sense. */
export function readOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '3' },
      profile: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const seconds = Number(values.seconds)
  const rounds = Number(values.rounds)
  const unknown = positionals.filter(name => !scenarios.some(scenario => scenario.name === name))
  const isWrong = !(seconds >= 1 && seconds <= 600) || !Number.isInteger(rounds) || rounds < 1 || unknown.length > 0
  if (values.help || isWrong) throw new Error(usage)
  const chosen = scenarios.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  return { scenarios: chosen, seconds, rounds, profile: values.profile }
}
