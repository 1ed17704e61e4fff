import { randomBytes } from 'node:crypto'
import type { Served } from '../../route.ts'
import { anyBytes, extensionOf, toMediaType } from './media-types.ts'
import type { BlobRow } from '../schema.ts'
import { insertBlob, insertOrphanedBytes, removeOrphanedBytes, type NewBlobRow } from '../store.ts'

/** The services for storing bytes. */
export type Keeper = Served<'sql' | 'bytes' | 'renditions' | 'uploadRoom' | 'by' | 'now'>

/** The sender's description of the bytes. */
export interface Sent {
  name: string
  mediaType: string
}

/** Picture types that are checked by content. Other content of such a type is stored as plain bytes. */
const pictures: Record<string, string> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  tiff: 'image/tiff',
  svg: 'image/svg+xml',
  bmp: 'image/bmp',
}
const pictureTypes = new Set([...Object.values(pictures), 'image/x-ms-bmp'])
const pictureExtensions = new Set([...Object.keys(pictures), 'jpg', 'tif', 'apng'])

/**
 * Stores bytes as a blob of the caller, if there is room for them. `write` stores them under the given key and returns their size and hash; after
 * a failure or crash, nothing stays behind. `insert` may find that an earlier request stored them, and return its blob.
 */
export async function keepBlob(
  keeper: Keeper,
  write: (key: string) => Promise<Sent>,
  insert = (row: NewBlobRow) => insertBlob(keeper.sql, row),
): Promise<BlobRow> {
  const { sql, bytes, uploadRoom, by } = keeper
  await uploadRoom.require(sql, by, 1)
  const key = randomBytes(16).toString('hex')
  const discard = async () => {
    await bytes.remove([key])
    await removeOrphanedBytes(sql, [key])
  }
  await insertOrphanedBytes(sql, key, keeper.now())
  let row: NewBlobRow
  try {
    row = await describeBlob(keeper, key, await write(key))
    await uploadRoom.require(sql, by, row.size)
  } catch (error) {
    await discard()
    throw error
  }
  // A failed insert may have been committed nevertheless; the removal of orphaned bytes checks for a blob.
  const blob = await insert(row)
  if (blob.key !== key) await discard()
  return blob
}

async function describeBlob(
  { bytes, renditions, by, now }: Keeper,
  key: string,
  { name, mediaType }: Sent,
): Promise<NewBlobRow> {
  const type = toMediaType(name, mediaType)
  const isPicture = pictureTypes.has(type) || pictureExtensions.has(extensionOf(name))
  const image = isPicture ? await renditions.inspect(key, by.user) : null
  const bare = pictureTypes.has(type) ? anyBytes : type
  return {
    name,
    media_type: image === null ? bare : pictures[image.format]!,
    size: (await bytes.sizeOf(key)) ?? 0,
    width: image?.width ?? null,
    height: image?.height ?? null,
    image: image?.format ?? null,
    key,
    secret: toSecret(),
    provider: null,
    link: null,
    download: null,
    embed: null,
    raw: null,
    created_at: now(),
    created_by: by.user,
  }
}

export function toSecret(): string {
  return randomBytes(16).toString('hex')
}
