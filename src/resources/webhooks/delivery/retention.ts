import type { Log } from '../../../lib/log.ts'
import { inPortions } from '../../../jobs/portions.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { listWebhookIds, removeOld, removeOrphans, removeOverflow, removeSurplus } from './store.ts'

/** Days for which attempts are kept; no delivery waits for longer either. */
const keepDays = 30

/**
 * The most queued deliveries of one webhook; beyond, the oldest are dropped. A guess: half an hour at the default pace.
 */
const queueLimit = 100_000

/** Rows per delete, few enough that requests do not wait for it. A guess. */
const batchSize = 1_000

interface RetentionOptions {
  sql: Sql
  past: () => Promise<Date>
  log: Log
  signal: AbortSignal
}

/** Keeps records of deliveries and queues within limits. Several nodes may run it at once. */
export async function forgetDeliveries({ sql, past, log, signal }: RetentionOptions): Promise<number> {
  const repeat = (removeBatch: () => Promise<number>) => inPortions(batchSize, signal, removeBatch)
  const before = new Date((await past()).getTime() - keepDays * 86_400_000)
  let removed = await repeat(() => removeOld(sql, before, batchSize))
  removed += await repeat(() => removeOrphans(sql, batchSize))
  for (const webhook of await listWebhookIds(sql)) {
    if (signal.aborted) return removed
    await removeSurplus(sql, webhook)
    const lost = await repeat(() => removeOverflow(sql, webhook, queueLimit, batchSize))
    if (lost > 0) log.warn({ webhook, lost }, 'A receiver is too slow; its oldest deliveries were given up')
    removed += lost
  }
  return removed
}
