import type { Message } from '@parley/client'
import { toDay as dayOf } from '../base/time.tsx'

/** Rows that are laid out together. */
export interface Chunk {
  key: string
  /** Of a new day: the day. */
  day: string | undefined
  rows: readonly Message[]
}

/** Rows after which another chunk begins, on average. */
const rowsOfChunk = 32

/**
 * Cuts a list into chunks: at each day, and at keys that say so themselves. Where a chunk begins does not depend on what
 * is around it, so that neither an older page nor a new message moves the others.
 */
export function toChunks(rows: readonly Message[], before: readonly Chunk[]): readonly Chunk[] {
  const known = new Map(before.map(chunk => [chunk.key, chunk]))
  const chunks: { key: string; day: string | undefined; rows: Message[] }[] = []
  let day: string | undefined
  for (const row of rows) {
    const rowDay = toDay(row)
    const last = chunks.at(-1)
    if (last === undefined || rowDay !== day || hash(row.key) % rowsOfChunk === 0)
      chunks.push({ key: row.key, day: rowDay === day ? undefined : rowDay, rows: [row] })
    else last.rows.push(row)
    day = rowDay
  }
  return chunks.map(chunk => {
    const old = known.get(chunk.key)
    return old !== undefined && isSame(old, chunk) ? old : chunk
  })
}

function isSame(a: Chunk, b: Chunk): boolean {
  return a.day === b.day && a.rows.length === b.rows.length && a.rows.every((row, index) => row === b.rows[index])
}

function hash(key: string): number {
  let sum = 0
  for (let index = 0; index < key.length; index++) sum = (Math.imul(sum, 31) + key.charCodeAt(index)) >>> 0
  return sum ^ (sum >>> 7)
}

const days = new WeakMap<Message, string>()

/** The day of a message: found once, as lists are cut anew with each change. */
function toDay(message: Message): string {
  let day = days.get(message)
  if (day === undefined) days.set(message, (day = dayOf(message.created_at)))
  return day
}

/** How long messages of one author belong together. */
const togetherMs = 5 * 60_000

/** True where a message is the first of several by one author. */
export function isFirst(message: Message, before: Message | undefined): boolean {
  return (
    before === undefined ||
    before.created_by?.id !== message.created_by?.id ||
    toDay(before) !== toDay(message) ||
    Date.parse(message.created_at) - Date.parse(before.created_at) > togetherMs
  )
}
