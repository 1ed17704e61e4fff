import { requireFolderOfDatabase } from '../bytes/blob-folder.ts'
import { openBytes } from '../bytes/bytes-open.ts'
import { toBytesSettings, toOutsideSettings, toUploadRoomSettings } from '../config/part-options.ts'
import { openOutside } from '../egress/outside.ts'
import { FairQueue } from '../lib/fair-queue.ts'
import { Previews } from '../media/previews.ts'
import { Renditions } from '../media/renditions.ts'
import { UploadRoom } from '../resources/blobs/uploads/room.ts'
import { Renderer } from '../resources/content/text/renderer.ts'
import type { Base } from './base.ts'
import type { Storage } from './storage.ts'

/** What makes previews: a file that is run and never imported. */
const previewThread = new URL('../resources/files/content/preview-thread.ts', import.meta.url)

/** The archives of files that are made at a time, and those of one user: each compresses in a thread. Guesses. */
const archivesAtOnce = 8
const archivesOfUser = 2

export type Files = Awaited<ReturnType<typeof openFiles>>

/** Where uploads are kept, what is made of them and of texts, and what is read from pages outside. */
export async function openFiles({ config, sql, log, teardown }: Base & Storage) {
  const settings = toBytesSettings(config)
  if (settings.s3 === null) await requireFolderOfDatabase(sql, settings.folder)
  const bytes = await openBytes(settings)
  const renditions = new Renditions(bytes)
  teardown.add('pictures', async () => renditions.stop())
  const previews = new Previews(previewThread, log)
  teardown.add('previews', () => previews.close())
  const renderer = new Renderer(log)
  teardown.add('long texts', () => renderer.close())
  const outside = openOutside(toOutsideSettings(config))
  const archives = new FairQueue({ atOnce: archivesAtOnce, ofOne: () => archivesOfUser })
  const uploadRoom = new UploadRoom(toUploadRoomSettings(config))
  return { bytes, renditions, previews, renderer, outside, archives, uploadRoom }
}
