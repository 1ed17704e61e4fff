import { sharedLogId, listEvents, type EventRow } from './events.ts'
import type { Db, Sql } from '../postgres/sql.ts'

/** Called with each change of what belongs to no app, in order, whichever node made it. */
export type SharedLogListener = (event: EventRow) => Promise<void> | void

/**
 * The history of what belongs to no app: users, directories, tokens, webhooks. Caches listen here. Every commit names
 * the environment's rev, so that decisions are never made on a cache that is older than the lock.
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

  /** Reads the present rev, up to which everything counts as known. Call once, before anything is cached. */
  async start(): Promise<void> {
    this.#rev = await findRev(this.#sql)
  }

  /**
   * Resolves when every listener has been called for everything up to `rev`, or of all that there is: a database that
   * was put back to an earlier state may never come to it. Costs nothing when they have.
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

  /** Reads what other nodes changed. */
  async poll(): Promise<void> {
    await this.catchUpTo(await findRev(this.#sql))
  }

  async #read(): Promise<void> {
    // The row is locked while its rev is drawn, so the log of the environment has no late arrivals.
    const rows = await listEvents(this.#sql, sharedLogId, this.#rev, 500)
    for (const row of rows) {
      for (const listener of this.#listeners) await listener(row)
      this.#rev = row.rev
    }
    if (rows.length > 0) return
    const head = await findRev(this.#sql)
    if (head === this.#rev) return
    // The rev is ahead of the log, whose history was dropped while this node was away; or it was put back.
    for (const listener of this.#listeners) await listener(everything)
    this.#rev = head
  }
}

/** Stands for changes that are no longer in the log: every cache starts again from nothing. */
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

/** A name for the database, like no other's. */
export async function findDeployment(sql: Sql): Promise<string> {
  const [row] = await sql<{ deployment: string }[]>`select deployment from environment`
  if (row === undefined) throw new Error('The database has no environment row')
  return row.deployment
}

/**
 * Another name, for a database that was made of another one's content: where both share a Redis, neither gets the
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
