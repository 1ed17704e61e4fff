import type { Tx } from '../../../postgres/sql.ts'
import { queueChanged } from '../processing/outbox.ts'
import { portion } from '../processing/pace.ts'
import type { Draft } from '../schema.ts'
import { insertDrafts } from '../store.ts'

/** Notifications per statement, which must not block others for long. A guess: a millisecond. */
const statementLimit = 125

/** The notifications of one transaction, over all apps: gathered, and written together. */
export class NotificationWriter {
  readonly #tx: Tx
  readonly #now: Date
  #drafts: Draft[] = []
  /** The number of notifications made so far, and whether any were made or changed. */
  written = 0
  hasChanges = false

  constructor(tx: Tx, now: Date) {
    this.#tx = tx
    this.#now = now
  }

  get isFull(): boolean {
    return this.written + this.#drafts.length >= portion
  }

  push(...drafts: Draft[]): void {
    for (const draft of drafts) this.#drafts.push(draft)
  }

  /** Sends a changed notification. */
  async update(id: number, by: number): Promise<void> {
    await queueChanged(this.#tx, { change: 'notification_updated', ids: [id], by }, this.#now)
    this.hasChanges = true
  }

  /** Writes the gathered notifications. */
  async write(): Promise<void> {
    const drafts = this.#drafts
    this.#drafts = []
    for (let first = 0; first < drafts.length; first += statementLimit) {
      const ids = await insertDrafts(this.#tx, drafts.slice(first, first + statementLimit))
      await queueChanged(this.#tx, { change: 'notification_created', ids }, this.#now)
      this.written += ids.length
      this.hasChanges = true
    }
  }
}
