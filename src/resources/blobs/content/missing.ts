import { NotFound } from '../../../lib/errors.ts'
import type { Bytes } from '../../../bytes/bytes.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { ContentMissing, type BlobRow } from '../schema.ts'
import { findBlob } from '../store.ts'

/** Where blobs are: what is known of them, and their bytes. */
export interface BlobParts {
  sql: Sql
  bytes: Bytes
}

/**
 * Refuses what was to be made of a blob's bytes and could not: 404 where there are bytes and nothing can be made of them,
 * or the blob was deleted meanwhile; 500 where the blob is known and its bytes are missing.
 */
export async function refuseMissing(blob: Pick<BlobRow, 'id' | 'key'>, { sql, bytes }: BlobParts): Promise<never> {
  const isFault =
    blob.key !== null && (await bytes.sizeOf(blob.key)) === null && (await findBlob(sql, blob.id)) !== null
  if (!isFault) throw NotFound()
  const fault = ContentMissing()
  fault.cause = new Error(`The bytes of blob ${blob.id} are missing under their key ${blob.key}`)
  throw fault
}
