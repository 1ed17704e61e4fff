import { median } from '../figures.ts'
import type { Buffers } from './buffers.ts'
import type { List } from './lists.ts'

/** How often each list is asked for once it is in memory, at most, and the time after which no more rounds begin. */
const rounds = 11
const longMs = 4_000

/** What one list took. */
export interface Answered extends List {
  /** For the first time after the server and, where it is ours, the database were started. */
  coldMs: number
  p50Ms: number
  worstMs: number
  /** Pages that the database looked at; null where that is not known. */
  buffers: number | null
}

/** False where there was no answer. */
export type Ask = (list: List) => Promise<boolean>

/** Asks a server as its clients do. What it refuses as too much, or does not finish in time, is a list that takes for ever. */
export function toAsk(origin: string, credentials: Record<List['by'], string>): Ask {
  return async ({ by, path }) => {
    const headers = { authorization: `Bearer ${credentials[by]}` }
    const answer = await fetch(`${origin}${encodeURI(path)}`, { headers })
    const text = await answer.text()
    if (answer.status >= 500) return false
    if (!answer.ok) throw new Error(`GET ${path} by ${by} was answered with ${answer.status}: ${text}`)
    return true
  }
}

/** Each list once, one after the other: how long it took. `say` is told now and then how far this is. */
export async function askCold(lists: List[], ask: Ask, say: (line: string) => void): Promise<Map<List, number>> {
  const took = new Map<List, number>()
  for (const list of lists) {
    took.set(list, await time(() => ask(list)))
    if (took.size % 20 === 0) say(`  ${took.size} of ${lists.length}`)
  }
  return took
}

/** Each list again and again. Pages of the background are in what is counted now and then: the least is that of the list. */
export async function askWarm(list: List, coldMs: number, ask: Ask, buffers: Buffers | null): Promise<Answered> {
  const times: number[] = []
  const pages: number[] = []
  for (let sumMs = 0; times.length < rounds && (times.length < 3 || sumMs < longMs);) {
    const before = await buffers?.count()
    const took = await time(() => ask(list))
    if (before !== undefined) pages.push((await buffers!.count()) - before)
    times.push(took)
    sumMs += took
  }
  return {
    ...list,
    coldMs,
    p50Ms: median(times),
    worstMs: Math.max(...times),
    buffers: pages.length === 0 ? null : Math.min(...pages),
  }
}

async function time(run: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now()
  return (await run()) ? performance.now() - startedAt : Infinity
}
