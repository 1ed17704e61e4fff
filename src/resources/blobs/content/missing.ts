import { NotFound } from '../../../lib/errors.ts'
import { ContentMissing, type BlobRow } from '../schema.ts'
import { findBlob } from '../store.ts'
import type { Served } from '../../route.ts'

/** The database and the store of bytes. */
export type BlobParts = Served<'sql' | 'bytes'>

/**
 * Refuses a rendition or preview that could not be made: 404 where the bytes cannot be rendered, or the blob was
 * deleted meanwhile; 500 where the bytes of an existing blob are missing.
 */
export async function refuseMissing(blob: Pick<BlobRow, 'id' | 'key'>, { sql, bytes }: BlobParts): Promise<never> {
  const isFault =
    blob.key !== null && (await bytes.sizeOf(blob.key)) === null && (await findBlob(sql, blob.id)) !== null
  if (!isFault) throw NotFound()
  const fault = ContentMissing()
  fault.cause = new Error(`The bytes of blob ${blob.id} are missing under their key ${blob.key}`)
  throw fault
}
