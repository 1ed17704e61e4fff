import { inPortions } from '../../../jobs/portions.ts'
import type { Job } from '../../../jobs/jobs.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Sql } from '../../../postgres/sql.ts'
import type { JobParts } from '../../resource.ts'
import * as store from './store.ts'

/**
 * Rows per delete. They are scattered over the disk: with 500, and no rests between, messages sent meanwhile waited up to
 * 183 ms for the disk while a million notifications were deleted (measured).
 */
const batchSize = 200

const appsAtOnce = 20

/** Nodes learn of a deletion from the app's row within about a second; after this time even a busy one has. A guess. */
const hearingMs = 60_000

/** Removes all content of some apps. Content comes later in the order of resources. */
export type RemoveContent = (sql: Sql, apps: number[], during: During) => Promise<void>

interface During {
  signal: AbortSignal
  clock: Clock
}

/**
 * Removes the remains of deleted apps, which are invisible, so it may take any time; the app's row goes last, so that
 * an interrupted removal is found again. Several nodes may run it at once.
 */
export function jobs(
  removeContent: RemoveContent,
  { sql, clock, past }: Pick<JobParts, 'sql' | 'clock' | 'past'>,
): Job[] {
  const run = (signal: AbortSignal) =>
    inPortions(appsAtOnce, signal, async () => {
      const before = new Date((await past()).getTime() - hearingMs)
      const apps = await store.listDeleted(sql, before, appsAtOnce)
      return apps.length === 0 ? 0 : removeApps(sql, apps, removeContent, { signal, clock })
    })
  return [{ name: 'remove what is left of deleted apps', periodMs: 10_000, run }]
}

/** Returns how many apps are removed completely. */
async function removeApps(sql: Sql, apps: number[], removeContent: RemoveContent, during: During): Promise<number> {
  const all = (remove: () => Promise<number>) => inPortions(batchSize, during.signal, remove, during.clock)
  await store.removeCursors(sql, apps)
  await all(() => store.removeNotificationsOf(sql, apps, batchSize))
  await removeContent(sql, apps, during)
  await all(() => store.removeMembersOf(sql, apps, batchSize))
  return store.removeApps(sql, apps)
}
