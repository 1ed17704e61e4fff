import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { invalid } from '../../lib/errors.ts'
import { toSecret } from './uploads/keep.ts'
import { toMediaType } from './uploads/media-types.ts'
import { toFileName, type ExternalBlob } from './schema.ts'
import { insertBlob, type NewBlobRow } from './store.ts'

/** Makes a blob of the caller for an external file. */
export const createExternal = globalCommand('createExternal', async (work: GlobalWork, given: ExternalBlob) => {
  const name = toFileName(given.name)
  if (name === '') throw invalid({ name: ['must not be empty'] })
  return await insertBlob(work.sql, {
    name,
    media_type: toMediaType(name, given.media_type ?? ''),
    size: given.size,
    width: given.width ?? null,
    height: given.height ?? null,
    image: null,
    key: null,
    secret: toSecret(),
    provider: given.provider,
    link: given.link,
    download: given.download ?? null,
    embed: given.embed ?? null,
    raw: given.raw ?? null,
    created_at: work.now,
    created_by: work.by.user,
  })
})

/** Makes a blob of the caller for stored bytes. */
export const createBlob = globalCommand('createBlob', (work: GlobalWork, row: NewBlobRow) => insertBlob(work.sql, row))
