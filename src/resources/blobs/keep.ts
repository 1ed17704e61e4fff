import { randomBytes } from 'node:crypto'
import type { Principal } from '../../actors/principal.ts'
import type { Bytes } from '../../storage/bytes.ts'
import type { Renditions } from '../../storage/renditions.ts'
import type { Sql } from '../../storage/sql.ts'
import { anyBytes, extensionOf, toMediaType } from './media-types.ts'
import type { BlobRow } from './schema.ts'
import { insertBlob, insertLooseBytes, removeLooseBytes } from './store.ts'

/** What keeping bytes takes. */
export interface Keeper {
  sql: Sql
  bytes: Bytes
  renditions: Renditions
  by: Principal
  now: () => Date
}

/** What the sender says about its bytes. */
export interface Sent {
  name: string
  mediaType: string
}

/** Formats that are looked into. What claims to be one of them and is not, is just bytes. */
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
 * Keeps bytes as a blob of the caller. `write` puts them under the key that it is given, and says what they are; where
 * it fails, or this process dies, nothing stays behind.
 */
export async function keepBlob(keeper: Keeper, write: (key: string) => Promise<Sent>): Promise<BlobRow> {
  const { sql, bytes, renditions, by, now } = keeper
  const key = randomBytes(16).toString('hex')
  await insertLooseBytes(sql, key, now())
  try {
    const sent = await write(key)
    const type = toMediaType(sent.name, sent.mediaType)
    const isPicture = pictureTypes.has(type) || pictureExtensions.has(extensionOf(sent.name))
    const image = isPicture ? await renditions.inspect(key) : null
    const bare = pictureTypes.has(type) ? anyBytes : type
    return await insertBlob(sql, {
      name: sent.name,
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
    })
  } catch (error) {
    await bytes.remove([key])
    await removeLooseBytes(sql, [key])
    throw error
  }
}

/** The same for bytes that are in memory. */
export function keepBytes(keeper: Keeper, source: AsyncIterable<Uint8Array>, sent: Sent): Promise<BlobRow> {
  return keepBlob(keeper, async key => {
    await keeper.bytes.put(key, source)
    return sent
  })
}

export function toSecret(): string {
  return randomBytes(16).toString('hex')
}
