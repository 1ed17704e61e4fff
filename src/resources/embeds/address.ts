import type { RouteRequest } from '../../http/route.ts'
import type { Services } from '../route.ts'
import { Problem } from '../../lib/errors.ts'
import { preparePicture, type PictureCaller } from '../blobs/pictures/picture.ts'
import { keepPreview, validSince } from './commands.ts'
import type { Preview } from './preview.ts'
import { NothingToEmbed, type EmbedRow } from './schema.ts'
import { findRecent, insertReader } from './store.ts'
import { unfurl } from './unfurl.ts'

/** For the page, and for what it says of itself elsewhere: whoever pastes a link waits for it before they can send. */
const deadlineMs = 5_000

/** What the picture gets in any case, however slow the page was. */
const leastPictureMs = 1_000

type Request = Pick<Services, 'sql' | 'globalCommands' | 'outboundQuota' | 'bytes' | 'renditions' | 'outside' | 'now'> &
  Pick<RouteRequest<unknown, unknown, unknown>, 'by'>

/**
 * The embed of an address: one that was made within a day, or a new one. Refuses with NothingToEmbed (404), with 429
 * for a user who asks for too many new ones, and answers within about six seconds.
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
  const { sql, bytes, renditions, outside, by, now } = request
  const caller = { sql, bytes, renditions, outside, by, now, outboundQuota: null, deadlineMs: leftMs }
  const image = await keepImage(preview.image, caller)
  return { preview: image === null ? withoutPicture(preview, url) : preview, image }
}

/** What a page has to say without a picture. Refuses where that is nothing, as of an address that is a picture itself. */
function withoutPicture(preview: Preview, url: URL): Preview {
  const { type, title, description, html } = preview
  const isPicture = type === 'photo' && preview.image === url.href
  if (isPicture || (title ?? description ?? html) === null) throw NothingToEmbed()
  return type === 'photo' ? { ...preview, type: 'link' } : preview
}

/** The blob of a page's picture; null where there is none, or what is there is no picture. */
async function keepImage(address: string | null, caller: PictureCaller): Promise<number | null> {
  try {
    return (await preparePicture(address, 'image', caller)) ?? null
  } catch (error) {
    // Nobody asked for this picture: the page can do without.
    if (error instanceof Problem) return null
    throw error
  }
}
