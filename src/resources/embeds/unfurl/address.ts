import type { Served } from '../../route.ts'
import { Problem } from '../../../lib/errors.ts'
import { preparePicture, type PictureCaller } from '../../blobs/pictures/picture.ts'
import { keepPreview, validSince } from '../commands.ts'
import type { Preview } from './preview.ts'
import { NothingToEmbed, type EmbedRow } from '../schema.ts'
import { findRecent, insertReader } from '../store.ts'
import { unfurl } from './unfurl.ts'

/** The limit for the page and its oEmbed answer: the author of a message waits for it. */
const deadlineMs = 5_000

/** The least time left for the picture, however slow the page was. */
const leastPictureMs = 1_000

type Request = Served<
  'sql' | 'globalCommands' | 'outboundQuota' | 'bytes' | 'renditions' | 'uploadRoom' | 'outside' | 'now' | 'by'
>

/**
 * The embed of a URL: one made within a day, or a new one. NothingToEmbed (404) where there is nothing to show, 429 for
 * a user who asks for too many new ones. Answers within about six seconds.
 */
export async function embedAddress(url: URL, request: Request): Promise<{ row: EmbedRow; isNew: boolean }> {
  const { by, sql, globalCommands, outboundQuota, now } = request
  const source = url.href
  const known = await findRecent(sql, source, validSince(now()))
  if (known !== null) {
    if (known.created_by !== by.user) await insertReader(sql, known.id, by.user)
    return { row: known, isNew: false }
  }
  const found = await outboundQuota.run(by, () => look(url, request))
  return globalCommands.run(keepPreview, by, { source, ...found })
}

async function look(url: URL, request: Request): Promise<{ preview: Preview; image: number | null }> {
  const startedAt = performance.now()
  const preview = await unfurl(url, request.outside, deadlineMs)
  if (preview === null) throw NothingToEmbed()
  const leftMs = Math.max(leastPictureMs, Math.floor(deadlineMs - (performance.now() - startedAt)))
  const image = await keepImage(preview.image, { ...request, outboundQuota: null, deadlineMs: leftMs })
  return { preview: image === null ? withoutPicture(preview, url) : preview, image }
}

/** A preview without a picture. NothingToEmbed where nothing is left, as for the URL of a picture. */
function withoutPicture(preview: Preview, url: URL): Preview {
  const { type, title, description, html } = preview
  const isPicture = type === 'photo' && preview.image === url.href
  if (isPicture || (title ?? description ?? html) === null) throw NothingToEmbed()
  return type === 'photo' ? { ...preview, type: 'link' } : preview
}

/** The blob of a page's picture; null without one, or where its URL is no picture. */
async function keepImage(address: string | null, caller: PictureCaller): Promise<number | null> {
  try {
    return (await preparePicture(address, 'image', caller)) ?? null
  } catch (error) {
    // The page can do without its picture.
    if (error instanceof Problem) return null
    throw error
  }
}
