import { requireFolderOfDatabase } from '../bytes/blob-folder.ts'
import { openBytes } from '../bytes/bytes-open.ts'
import { toBytesSettings, toOutsideSettings } from '../config/part-options.ts'
import { openOutside } from '../egress/outside.ts'
import { Previews } from '../media/previews.ts'
import { Renditions } from '../media/renditions.ts'
import type { Base } from './base.ts'
import type { Storage } from './storage.ts'

/** What makes previews: a file that is run and never imported. */
const previewThread = new URL('../resources/files/content/preview-thread.ts', import.meta.url)

export type Files = Awaited<ReturnType<typeof openFiles>>

/** Where uploads are kept, what is made of them, and what is read from pages outside. */
export async function openFiles({ config, sql, log, teardown }: Base & Storage) {
  const settings = toBytesSettings(config)
  if (settings.s3 === null) await requireFolderOfDatabase(sql, settings.folder)
  const bytes = await openBytes(settings)
  const renditions = new Renditions(bytes)
  teardown.add('pictures', async () => renditions.stop())
  const previews = new Previews(previewThread, log)
  teardown.add('previews', () => previews.close())
  const outside = openOutside(toOutsideSettings(config))
  return { bytes, renditions, previews, outside }
}
