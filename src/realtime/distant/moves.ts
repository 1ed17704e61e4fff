import { Watermark } from '../../actors/watermark.ts'
import type { Sql } from '../../storage/sql.ts'
import { listMoved } from './store.ts'

/** An app, and the newest rev that was found of it. */
export interface Moved {
  app_id: number
  rev: number
}

/** Finds which apps were written to, by any node: each look finds what follows a watermark, some of it several times. */
export class Moves {
  readonly #sql: Sql
  readonly #watermark: Watermark

  /** `nowMs`: see Watermark. */
  constructor(sql: Sql, nowMs: () => number) {
    this.#sql = sql
    this.#watermark = new Watermark(sql, nowMs)
  }

  /** Where the next look begins. */
  get from(): number {
    return this.#watermark.from
  }

  /** The first look only takes notice of where things are. Finding nothing new costs two small queries. */
  async look(): Promise<Moved[]> {
    const rev = await this.#watermark.advance()
    return rev === this.from ? [] : listMoved(this.#sql, this.from)
  }

  /** What the last look has found was dealt with: the next one need not find all of it again. */
  settle(): void {
    this.#watermark.settle()
  }
}
