import { mkdirSync } from 'node:fs'
import { conclude, round } from '../print.ts'
import { askCold, askWarm, toAsk, type Answered } from './ask.ts'
import { Buffers } from './buffers.ts'
import { ensureLoaded } from './data.ts'
import { toExpressions, toLayout } from './layout.ts'
import { toLists, toTokens } from './lists.ts'
import { key, withData, withServer } from './serve.ts'
import { sizes, type SizeName } from './size.ts'

export interface LargeOptions {
  size: SizeName
  /** Of what is there, in hundredths. */
  trash: number
  /** Where the embedded database is kept, with what is loaded. */
  dir: string
  /** A database that runs elsewhere; null for an embedded one. */
  url: string | null
  /** Only lists in whose path this is. */
  only: string
  /** Where results are written to. */
  out: string
}

/** Loads a deployment of a size, unless it is there, and asks for each of its lists. False where one missed its target. */
export async function measureLists(options: LargeOptions, say: (line: string) => void): Promise<boolean> {
  const { dir, url, only, out } = options
  const size = { ...sizes[options.size], trashed: options.trash * 10 }
  const lists = toLists(size, toLayout(size), toExpressions(size)).filter(({ path }) => path.includes(only))
  mkdirSync(dir, { recursive: true })
  await withData(options, async database => {
    await ensureLoaded(database, size, say)
    if (url === null) await Buffers.prepare(database)
  })
  // Started anew, with nothing in memory.
  return withData(options, database =>
    withServer({ dir, database }, async ({ origins: [origin] }) => {
      const buffers = await Buffers.open(database)
      try {
        const ask = toAsk(`http://${origin!.host}:${origin!.port}`, { key, ...toTokens(size) })
        say(`asks for ${lists.length} lists, cold`)
        const cold = await askCold(lists, ask, say)
        say('warm')
        process.stdout.write(`${heading}\n`)
        const answered: Answered[] = []
        for (const list of lists) {
          const one = await askWarm(list, cold.get(list)!, ask, buffers)
          answered.push(one)
          process.stdout.write(`${describe(one)}\n`)
        }
        const missed = answered.filter(isMissed)
        if (missed.length > 0) process.stdout.write(`\nMissed:\n${heading}\n${missed.map(describe).join('\n')}\n`)
        return conclude('lists', answered, isMissed, out)
      } finally {
        await buffers?.close()
      }
    }),
  )
}

const isMissed = ({ p50Ms, limitMs }: Answered) => limitMs !== null && p50Ms > limitMs

function describe(one: Answered): string {
  const { by, path, coldMs, p50Ms, worstMs, buffers, limitMs } = one
  const figures = [coldMs, p50Ms, worstMs].map(ms => round(ms, 1).padStart(9))
  const verdict = limitMs === null ? '      ' : isMissed(one) ? 'MISSED' : 'met   '
  const limit = (limitMs === null ? '–' : round(limitMs, 0)).padStart(6)
  return `${verdict} ${figures.join('')} ${round(buffers, 0).padStart(11)} ${limit}  ${by.padEnd(8)} ${path}`
}

const heading = 'ms:           cold      p50    worst     buffers  limit  by       list'
