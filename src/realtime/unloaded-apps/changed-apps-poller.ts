import { Watermark } from '../../log/watermark.ts'
import type { Sql } from '../../postgres/sql.ts'
import { listChangedApps } from './store.ts'

/** An app, and the newest rev that was found of it. */
export interface ChangedApp {
  app_id: number
  rev: number
}

/** Finds which apps were written to, by any node: each poll finds what follows a watermark, some of it several times. */
export class ChangedAppsPoller {
  readonly #sql: Sql
  readonly #watermark: Watermark

  /** `nowMs`: see Watermark. */
  constructor(sql: Sql, nowMs: () => number) {
    this.#sql = sql
    this.#watermark = new Watermark(sql, nowMs)
  }

  /** Where the next poll begins. */
  get from(): number {
    return this.#watermark.from
  }

  /** The first poll only finds the position. Finding nothing new costs two small queries. */
  async poll(): Promise<ChangedApp[]> {
    const rev = await this.#watermark.advance()
    return rev === this.from ? [] : listChangedApps(this.#sql, this.from)
  }

  /** What the last poll has found was dealt with: the next one need not find all of it again. */
  acknowledge(): void {
    this.#watermark.confirm()
  }
}
