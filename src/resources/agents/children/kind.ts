import type { z } from 'zod'
import type { Vault } from '../../../lib/vault.ts'
import type { Db, Tx } from '../../../postgres/sql.ts'
import type { Headers, StoredHeaders } from '../headers.ts'

/** A child with its headers in clear. */
export interface ChildRow {
  name: string
  headers: Headers | null
}

/** A child as the database has it. */
export type StoredChild<Row extends ChildRow> = Omit<Row, 'headers'> & { id: number; headers: StoredHeaders }

/** What a change may name of any child. */
export interface ChildUpdate {
  name?: string | undefined
  headers?: Headers | null | undefined
}

/**
 * A kind of children that an agent has, each with a name of its own: functions, tool servers. They are added, changed, put,
 * listed and removed in one way, by commands.ts and routes.ts.
 */
export interface ChildKind<Row extends ChildRow, New extends { name: string }, Update extends ChildUpdate> {
  /** As problems and summaries call them. */
  noun: { one: string; many: string; article: string }
  /** The last part of their path. */
  path: string
  table: 'agent_functions' | 'agent_servers'
  /** Of one agent. */
  most: number
  shapes: { new: z.ZodType<New>; update: z.ZodType<Update>; shown: z.ZodType; list: z.ZodType }
  /** A new child, with what it was not given. */
  toRow(given: New): Row
  /** What a child becomes: absent members stay, null clears. Name and headers apart. */
  change(before: StoredChild<Row>, given: Update): StoredChild<Row>
  show(row: Row): object
  store: {
    list(db: Db, agent: number): Promise<StoredChild<Row>[]>
    find(db: Db, agent: number, name: string): Promise<StoredChild<Row> | null>
    /** Numbers them anew, and seals their headers where there are keys. */
    toStored(tx: Tx, vault: Vault, rows: Row[]): Promise<StoredChild<Row>[]>
    /** With its headers in clear. */
    open(vault: Vault, row: StoredChild<Row>): Row
    insert(tx: Tx, agent: number, rows: StoredChild<Row>[]): Promise<void>
    /** `name`: what it was called before. */
    update(tx: Tx, agent: number, name: string, row: StoredChild<Row>): Promise<void>
    remove(tx: Tx, agent: number, name: string): Promise<boolean>
  }
}
