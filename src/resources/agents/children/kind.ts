import type { z } from 'zod'
import type { Vault } from '../../../lib/vault.ts'
import type { Db, Tx } from '../../../postgres/sql.ts'
import type { Headers, StoredHeaders } from './headers.ts'

/** A child with decrypted headers. */
export interface ChildRow {
  name: string
  headers: Headers | null
}

/** A stored child. */
export type StoredChild<Row extends ChildRow> = Omit<Row, 'headers'> & { id: number; headers: StoredHeaders }

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
  table: 'agent_functions' | 'agent_servers'
  /** The most of one agent. */
  most: number
  shapes: { new: z.ZodType<New>; update: z.ZodType<Update>; shown: z.ZodType; list: z.ZodType }
  /** A new child, with defaults. */
  toRow(given: New): Row
  /** The changed child: absent members stay, null clears. Without name and headers. */
  change(before: StoredChild<Row>, given: Update): StoredChild<Row>
  show(row: Row): object
  store: {
    list(db: Db, agent: number): Promise<StoredChild<Row>[]>
    find(db: Db, agent: number, name: string): Promise<StoredChild<Row> | null>
    /** Assigns new ids, and encrypts headers where keys are configured. */
    toStored(tx: Tx, vault: Vault, rows: Row[]): Promise<StoredChild<Row>[]>
    /** Decrypts the headers. */
    open(vault: Vault, row: StoredChild<Row>): Row
    insert(tx: Tx, agent: number, rows: StoredChild<Row>[]): Promise<void>
    /** `name`: the name before the change. */
    update(tx: Tx, agent: number, name: string, row: StoredChild<Row>): Promise<void>
    remove(tx: Tx, agent: number, name: string): Promise<boolean>
  }
}
