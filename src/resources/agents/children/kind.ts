import type { z } from 'zod'
import type { Headers } from './headers.ts'
import type { ChildRow, childStore, StoredChild } from './store.ts'

/** Changeable members of any child. */
export interface ChildUpdate {
  name?: string | undefined
  headers?: Headers | null | undefined
}

/**
 * A kind of named children of an agent: functions, tool servers. commands.ts and routes.ts implement adding, changing,
 * putting, listing and removing for all kinds.
 */
export interface ChildKind<Row extends ChildRow, New extends { name: string }, Update extends ChildUpdate> {
  /** The noun in problems and summaries. */
  noun: { one: string; many: string; article: string }
  /** The last segment of their path. */
  path: string
  /** The most of one agent. */
  most: number
  shapes: { new: z.ZodType<New>; update: z.ZodType<Update>; shown: z.ZodType }
  /** A new child, with defaults. */
  toRow(given: New): Row
  /** The changed child: absent members stay, null clears. Without name and headers. */
  change(before: StoredChild<Row>, given: Update): StoredChild<Row>
  show(row: Row): object
  store: ReturnType<typeof childStore<Row>>
}
