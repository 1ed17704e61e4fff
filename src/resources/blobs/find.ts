import type { Principal } from '../../auth/principal.ts'
import { invalid, NotFound, requireFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import type { Sql } from '../../postgres/sql.ts'
import type { Served } from '../route.ts'
import type { BlobRow } from './schema.ts'
import { claimBlobs, findBlob } from './store.ts'

/** True where a user may read an item that uses a blob. Such items come later in the order of resources. */
export type IsInSight = (sql: Sql, blob: number, by: Principal, directories: number[]) => Promise<boolean>

type Caller = Served<'sql' | 'by' | 'userCache'>

/** The blob that `{id}` names; 404 where the caller neither uploaded it nor can read an item that uses it. */
export async function findReadableBlob(
  id: string,
  isInSight: IsInSight,
  { sql, by, userCache }: Caller,
): Promise<BlobRow> {
  const row = requireFound(await findBlob(sql, toId(id)))
  if (by.kind === 'key' || row.created_by === by.user) return row
  if (await isInSight(sql, row.id, by, await userCache.directoriesOf(by.user))) return row
  throw NotFound()
}

/**
 * The blobs with these ids for attaching, in order, each once. 422 on `field` for unknown blobs, and for blobs uploaded
 * by other users; an API key may use any.
 */
export async function prepareBlobs(
  ids: readonly number[],
  { sql, by, now }: Served<'sql' | 'by' | 'now'>,
  field = 'blobs',
): Promise<BlobRow[]> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return []
  const found = await claimBlobs(sql, wanted, by, now())
  const unknown = wanted.filter(id => !found.has(id))
  if (unknown.length > 0) throw invalid({ [field]: unknown.map(id => `there is no blob ${id} of yours`) })
  return wanted.map(id => found.get(id)!)
}
