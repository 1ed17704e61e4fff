import { Watermark } from '../../log/watermark.ts'
import type { Sql } from '../../postgres/sql.ts'
import { listChangedApps } from './store.ts'

/** An app and its newest rev found by a poll. */
export interface ChangedApp {
  app_id: number
  rev: number
}

/** Polls for apps that any node has written to: each poll finds what follows a watermark, some of it repeatedly. */
export class ChangedAppsPoller {
  readonly #sql: Sql
  readonly #watermark: Watermark

  /** `nowMs`: see Watermark. */
  constructor(sql: Sql, nowMs: () => number) {
    this.#sql = sql
    this.#watermark = new Watermark(sql, nowMs)
  }

  /** The rev at which the next poll begins. */
  get from(): number {
    return this.#watermark.from
  }

  /** The first poll only finds the position. A poll without changes costs two small queries. */
  async poll(): Promise<ChangedApp[]> {
    const rev = await this.#watermark.advance()
    return rev === this.from ? [] : listChangedApps(this.#sql, this.from)
  }

  /** Moves the watermark: the last poll's result has been handled. */
  acknowledge(): void {
    this.#watermark.confirm()
  }
}
