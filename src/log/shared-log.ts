import { sharedLogId, listEvents, type EventRow } from './events.ts'
import type { Db, Sql } from '../postgres/sql.ts'

/** Called with each change of data outside of apps, in order, whichever node made it. */
export type SharedLogListener = (event: EventRow) => Promise<void> | void

/**
 * The history of data outside of apps: users, directories, tokens, webhooks. Caches subscribe to it. Every commit
 * checks its rev, so that no decision rests on a cache that is older than the lock.
 */
export class SharedLog {
  readonly #sql: Sql
  readonly #listeners: SharedLogListener[] = []
  #rev = 0
  #reading: Promise<void> | null = null

  constructor(sql: Sql) {
    this.#sql = sql
  }

  get rev(): number {
    return this.#rev
  }

  listen(listener: SharedLogListener): void {
    this.#listeners.push(listener)
  }

  /** Reads the current rev, up to which all changes count as known. Call once, before data is cached. */
  async start(): Promise<void> {
    this.#rev = await findRev(this.#sql)
  }

  /**
   * Resolves when every listener has been called for all changes up to `rev`, or for all that exist: a database
   * restored to an earlier state may never reach it. Free when they have been.
   */
  async catchUpTo(rev: number): Promise<void> {
    let before = Number.NaN
    while (this.#rev < rev && this.#rev !== before) {
      before = this.#rev
      this.#reading ??= this.#read().finally(() => {
        this.#reading = null
      })
      await this.#reading
    }
  }

  /** Reads the changes of other nodes. */
  async poll(): Promise<void> {
    await this.catchUpTo(await findRev(this.#sql))
  }

  async #read(): Promise<void> {
    // The row is locked while its rev is drawn, so no event of this log is committed late.
    const rows = await listEvents(this.#sql, sharedLogId, this.#rev, 500)
    for (const row of rows) {
      for (const listener of this.#listeners) await listener(row)
      this.#rev = row.rev
    }
    if (rows.length > 0) return
    const head = await findRev(this.#sql)
    if (head === this.#rev) return
    // The log's history was dropped while this node was away, or the database was restored to an earlier state.
    for (const listener of this.#listeners) await listener(everything)
    this.#rev = head
  }
}

/** Stands for changes that are not in the log any more: every cache must be cleared. */
export const everything: EventRow = {
  app_id: sharedLogId,
  rev: 0,
  prev: 0,
  type: 'everything',
  actor_id: 0,
  entity_type: 'app',
  entity_id: 0,
  facts: null,
  created_at: new Date(0),
}

/** The unique id of the database. */
export async function findDeployment(sql: Sql): Promise<string> {
  const [row] = await sql<{ deployment: string }[]>`select deployment from environment`
  if (row === undefined) throw new Error('The database has no environment row')
  return row.deployment
}

/**
 * Assigns a new id to a database made from another one's content, so that where both share a Redis, neither gets the
 * other's messages.
 */
export async function renewDeployment(db: Db): Promise<void> {
  await db`update environment set deployment = gen_random_uuid()`
}

/** A query for the rev up to which there are events. */
export const sharedRev = 'select head_rev from environment'

async function findRev(sql: Sql): Promise<number> {
  const [row] = await sql<{ head_rev: number }[]>`select head_rev from environment`
  return row?.head_rev ?? 0
}
