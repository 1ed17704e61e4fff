import type { Apps } from '../../actors/apps.ts'
import type { People } from '../../actors/people.ts'
import type { Principal } from '../../actors/principal.ts'
import { invalid, NotFound, Problem } from '../../lib/errors.ts'
import type { Sql } from '../../storage/sql.ts'
import { canRead } from '../members/access.ts'
import { findPerson } from '../users/store.ts'
import type { BlobRow } from './schema.ts'
import { claimBlobs, findBlob, findUses } from './store.ts'

interface Caller {
  sql: Sql
  by: Principal
  apps: Apps
  people: People
}

/** The blob behind `{id}`; 404 where the caller neither uploaded it nor can read what uses it. */
export async function findReadableBlob(id: string, caller: Caller): Promise<BlobRow> {
  const row = /^\d{1,15}$/.test(id) ? await findBlob(caller.sql, Number(id)) : null
  const { by } = caller
  if (row !== null && (by.kind === 'key' || row.created_by === by.user || (await isInSight(row, caller)))) return row
  throw NotFound()
}

async function isInSight({ id }: BlobRow, { sql, by, apps, people }: Caller): Promise<boolean> {
  const uses = await findUses(sql, id)
  await people.load([by.user])
  for (const app of uses.apps) if (await isReadable(app, by, apps, people)) return true
  for (const person of uses.people) if ((await findPerson(sql, String(person), by)) !== null) return true
  return false
}

async function isReadable(app: number, by: Principal, apps: Apps, people: People): Promise<boolean> {
  try {
    return canRead(await apps.state(app), by.user, people)
  } catch (error) {
    // The app was deleted; its files are still to be removed.
    if (error instanceof Problem) return false
    throw error
  }
}

/**
 * The blobs with these ids in their order, each once, for whoever wants to attach them. Refuses with 422 on `field`
 * what is unknown or was uploaded by somebody else; an API key may use any.
 */
export async function prepareBlobs(
  ids: readonly number[],
  { sql, by, now }: { sql: Sql; by: Principal; now: () => Date },
  field = 'blobs',
): Promise<BlobRow[]> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return []
  const found = await claimBlobs(sql, wanted, by, now())
  const unknown = wanted.filter(id => !found.has(id))
  if (unknown.length > 0) throw invalid({ [field]: unknown.map(id => `there is no blob ${id} of yours`) })
  return wanted.map(id => found.get(id)!)
}
