import { join } from 'node:path'
import { readArguments } from '../src/lib/process/arguments.ts'
import { scenarios } from './catalogue.ts'
import { Elsewhere } from './elsewhere.ts'
import type { LargeOptions } from './large/run.ts'
import { sizes, type SizeName } from './large/size.ts'
import type { Scenario } from './stage.ts'

export interface Options {
  scenarios: Scenario[]
  /** Null: as each scenario has it. */
  seconds: number | null
  rounds: number | null
  rate: number | null
  /** A server that was not started by the bench; null: one of ours. */
  elsewhere: Elsewhere | null
  isTrial: boolean
  profile: boolean
  /** The hand-made server is measured as well. */
  comparesPeers: boolean
  /** Only lists with this in their path, and set-ups of `nodes` with this in their name. */
  only: string
  /** Where results are written to. */
  out: string
  /** Lists of a deployment of some size are asked for, or much is done with it; null: scenarios are run. */
  large: LargeOptions | null
  isBulk: boolean
}

const usage = `npm run bench -- [scenario …] [--seconds 5] [--rounds 3] [--rate 200] [--profile] [--peers]
npm run bench -- [scenario …] --url https://chat.example --key wys_…
npm run bench -- --size large [--trash 1] [--data bench/data] [--database postgres://…] [--only notifications]
npm run bench -- --size large --bulk

scenarios: ${scenarios.map(({ name, isByHand }) => (isByHand ? `${name} (only if named)` : name)).join(', ')}; without any, all
--seconds  how long each measurement takes; 5, unless the scenario has its own time
--rounds   how often each is repeated; figures are medians
--rate     operations a second at fixed instants, as fast as it goes or not: ${namesOf(({ takesRate }) => takesRate === true)}
--url      measures a server that runs elsewhere: ${namesOf(({ runElsewhere }) => runElsewhere !== undefined)}
--key      an API key of that server; what is made there is deleted afterwards
--only     only set-ups with this in their name, beside what they are compared with: nodes
--profile  writes CPU profiles of the server to the results and says where its time goes
--peers    beside a server made by hand of express, socket.io and pg, which are installed: ${namesOf(({ comparesPeers }) => comparesPeers === true)}
--trial    everything small and short, to see that it works; the figures mean nothing
--out      folder for the results; bench/results

--size     loads a whole deployment (${Object.keys(sizes).join(', ')}) by SQL, asks for each list, cold and warm, and says which missed
--trash    how much of it is in the trash, in hundredths; 1
--data     folder in which it is kept, so that it is loaded once
--database a PostgreSQL to load it into instead of an embedded one; it must be empty, or loaded by this before
--only     only lists with this in their path
--bulk     instead of lists: does what concerns very many rows at once, and says how long people who write waited meanwhile
`

function namesOf(isMeant: (scenario: Scenario) => boolean): string {
  return scenarios
    .filter(isMeant)
    .map(({ name }) => name)
    .join(', ')
}

/** What was asked for; throws the usage where that makes no sense. */
export function readOptions(args: string[]): Options {
  const { values, positionals } = readArguments(
    {
      args,
      allowPositionals: true,
      options: {
        seconds: { type: 'string' },
        rounds: { type: 'string' },
        rate: { type: 'string' },
        url: { type: 'string' },
        key: { type: 'string' },
        out: { type: 'string', default: join(import.meta.dirname, 'results') },
        size: { type: 'string' },
        trash: { type: 'string', default: '1' },
        data: { type: 'string' },
        database: { type: 'string' },
        only: { type: 'string', default: '' },
        bulk: { type: 'boolean', default: false },
        trial: { type: 'boolean', default: false },
        profile: { type: 'boolean', default: false },
        peers: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    },
    usage,
  )
  const { seconds, rounds, rate, url, key, out, size, trash, data, bulk, trial, profile, peers, help } = values
  const number = (text: string | undefined) => (text === undefined ? null : Number(text))
  const isWithin = (value: number | null, least: number, most: number) =>
    value === null || (value >= least && value <= most)
  const isPossible = (scenario: Scenario) =>
    (url === undefined || scenario.runElsewhere !== undefined) &&
    (rate === undefined || scenario.takesRate === true) &&
    (!peers || scenario.comparesPeers === true)
  const named = positionals.map(name => scenarios.find(scenario => scenario.name === name))
  const isRight =
    isWithin(number(seconds), 0.1, 7200) &&
    isWithin(number(rounds), 1, 1000) &&
    Number.isInteger(number(rounds) ?? 1) &&
    isWithin(number(rate), 0.1, 100_000) &&
    (size === undefined || (size in sizes && positionals.length === 0)) &&
    isWithin(number(trash), 0, 100) &&
    !(bulk && size === undefined) &&
    (url === undefined) === (key === undefined) &&
    !((profile || peers) && url !== undefined) &&
    named.every(scenario => scenario !== undefined && isPossible(scenario))
  if (help || !isRight) throw new Error(usage)
  const chosen = scenarios.filter(scenario =>
    named.length === 0 ? isPossible(scenario) && !scenario.isByHand : named.includes(scenario),
  )
  return {
    scenarios: chosen,
    seconds: number(seconds),
    rounds: number(rounds),
    rate: number(rate),
    elsewhere: url === undefined ? null : new Elsewhere(url, key!),
    isTrial: trial,
    profile,
    comparesPeers: peers,
    only: values.only,
    out,
    isBulk: bulk,
    large:
      size === undefined
        ? null
        : {
            size: size as SizeName,
            trash: Number(trash),
            dir: data ?? join(import.meta.dirname, 'data', `${size}-${trash}`),
            url: values.database ?? null,
            only: values.only,
            out,
          },
  }
}
