import { randomUUID } from 'node:crypto'
import { Extractor } from '../../../agents/extraction/extractor.ts'
import { documentLimitBytes, formatOf, Unreadable } from '../../../agents/extraction/format.ts'
import type { Log } from '../../../lib/log.ts'
import type { Bytes } from '../../../bytes/bytes.ts'
import type { Job } from '../../../jobs/jobs.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { findFile } from '../../files/store.ts'
import * as store from './store.ts'
import type { ClaimedFile } from './store.ts'

interface IndexerOptions {
  sql: Sql
  bytes: Bytes
  log: Log
}

/**
 * Keeps what agents search up to their files: finds what was committed since, and reads one file at a time. Any number of
 * nodes may work at once. Made by main, run by its jobs. What is to be read is noted in the database: where a node dies
 * in a file, another reads it when the lease is over.
 */
export class Indexer {
  readonly #options: IndexerOptions
  readonly #node = randomUUID()
  readonly #extractor = new Extractor()

  constructor(options: IndexerOptions) {
    this.#options = options
  }

  get jobs(): Job[] {
    const { sql } = this.#options
    return [
      {
        name: 'follow files that agents search',
        periodMs: 1_000,
        dueWhere: store.isAnySearched,
        run: () => this.#follow(),
      },
      {
        name: 'read files that agents search',
        periodMs: 1_000,
        dueWhere: store.isAnyPending,
        run: signal => this.#read(signal),
      },
      { name: 'forget files that no agent searches', periodMs: 600_000, run: () => store.forgetUnused(sql) },
    ]
  }

  async #follow(): Promise<void> {
    const { sql } = this.#options
    await store.followAgents(sql)
    for (const app of await store.listChanged(sql)) {
      await sql.begin(tx => store.followApp(tx, app))
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { sql } = this.#options
    const stop = () => this.#extractor.stop()
    signal.addEventListener('abort', stop)
    try {
      while (!signal.aborted) {
        const claimed = await store.claimFile(sql, this.#node)
        if (claimed === null) return
        await this.#settle(claimed, signal)
      }
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async #settle(claimed: ClaimedFile, signal: AbortSignal): Promise<void> {
    const { sql, log } = this.#options
    try {
      const outcome = await this.#index(claimed, signal)
      if (signal.aborted) await store.releaseFile(sql, this.#node, claimed)
      else await store.settleFile(sql, this.#node, claimed, outcome)
    } catch (error) {
      log.warn({ file: claimed.file_id, error }, 'A file could not be read for search; it is tried again')
      // Its lease keeps it from being tried again at once.
    }
  }

  async #index({ file_id, rev }: ClaimedFile, signal: AbortSignal): Promise<Parameters<typeof store.settleFile>[3]> {
    const { sql, bytes } = this.#options
    const file = await findFile(sql, file_id)
    const name = file?.name ?? ''
    const skip = (error: string) => ({ state: 'skipped' as const, error, name, passages: [] })
    if (file === null || file.rev !== rev || file.blob.key === null) return skip('It was changed.')
    const { key, media_type, size } = file.blob
    const format = formatOf({ name, media_type })
    if (format === null) return skip('It has a format that cannot be read.')
    if (size > documentLimitBytes) return skip('It is larger than 20 MiB.')
    try {
      const order = { format, asPassages: true }
      const passages = await bytes.withFile(key, path => this.#extractor.read({ ...order, source: path }, signal))
      if (passages === null) return { state: 'failed', error: 'Its content is missing.', name, passages: [] }
      return { state: 'indexed', error: null, name, passages }
    } catch (error) {
      if (error instanceof Unreadable) return { state: 'failed', error: error.message, name, passages: [] }
      throw error
    }
  }
}
