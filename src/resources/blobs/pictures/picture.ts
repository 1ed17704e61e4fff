import type { OutboundQuota } from '../../../http/request/outbound-quota.ts'
import type { Outside } from '../../../egress/outside.ts'
import { invalid } from '../../../lib/errors.ts'
import { idForm } from '../../../api/shape.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { prepareBlobs } from '../find.ts'
import { keepBlob, type Keeper } from '../uploads/keep.ts'
import { isDecoded, showBlob } from '../represent.ts'
import { toFileName, type BlobRow } from '../schema.ts'
import { findBlob, listBlobs } from '../store.ts'

/** The limit of a picture that is not uploaded as a blob first. */
const pictureLimitBytes = 5 * 1024 * 1024

const fetchDeadlineMs = 10_000
const redirects = 3

/** Formats with an avatar. */
const formats = new Set(['png', 'jpeg', 'gif', 'webp', 'bmp', 'svg'])

/** What taking a picture takes. */
export interface PictureCaller extends Keeper {
  outside: Outside
  /** The quota for fetching a picture from a URL; null where it is part of a request that counts already. */
  outboundQuota: OutboundQuota | null
  /** For a picture at a URL; default: ten seconds. */
  deadlineMs?: number
}

/**
 * The id of the blob for a picture in a body, which is made where the picture is given by content or URL; null and
 * undefined are returned as they are. 422 on `field` where it is no picture, or not the caller's.
 */
export async function preparePicture(
  input: string | null | undefined,
  field: string,
  caller: PictureCaller,
): Promise<number | null | undefined> {
  if (input === null || input === undefined) return input
  const blob = await toBlob(input.trim(), field, caller)
  if (blob.image === null || !formats.has(blob.image)) throw invalid({ [field]: ['must be a picture'] })
  if (!isDecoded(blob)) throw invalid({ [field]: ['must be a picture of at most 50 megapixels'] })
  return blob.id
}

interface Pictured {
  picture?: string | null | undefined
}

/** The body with the picture replaced by the id of its blob. */
export async function withPicture<Body extends Pictured>(
  { picture, ...rest }: Body,
  caller: PictureCaller,
): Promise<Omit<Body, 'picture'> & { picture?: number | null }> {
  const id = await preparePicture(picture, 'picture', caller)
  return id === undefined ? rest : { ...rest, picture: id }
}

/** The blob of a picture in details. */
export async function showPicture(sql: Sql, id: number | null, origin: string): Promise<object | null> {
  const blob = id === null ? null : await findBlob(sql, id)
  return blob === null ? null : showBlob(blob, origin)
}

/** The pictures of users and agents, by user id. */
export async function showPictures(
  sql: Sql,
  owners: readonly { id: number; picture_id: number | null }[],
  origin: string,
): Promise<Map<number, object>> {
  const pictured = owners.flatMap(({ id, picture_id }) => (picture_id === null ? [] : [{ id, picture_id }]))
  const blobs = await listBlobs(
    sql,
    pictured.map(({ picture_id }) => picture_id),
  )
  return new Map(
    pictured.flatMap(({ id, picture_id }) => {
      const blob = blobs.get(picture_id)
      return blob === undefined ? [] : [[id, showBlob(blob, origin)] as const]
    }),
  )
}

async function toBlob(input: string, field: string, caller: PictureCaller): Promise<BlobRow> {
  if (idForm.test(input)) return (await prepareBlobs([Number(input)], caller, field))[0]!
  const data = /^data:image\/[\w.+-]+(?:;[\w=.-]+)*;base64,/i.exec(input)
  if (data !== null) {
    const bytes = Buffer.from(input.slice(data[0].length), 'base64')
    if (bytes.length === 0) throw invalid({ [field]: ['must be a picture'] })
    if (bytes.length > pictureLimitBytes) throw invalid({ [field]: ['must be at most 5 MiB'] })
    return keepPicture(bytes, 'picture', caller)
  }
  if (/^https?:\/\//i.test(input)) return fetchPicture(input, field, caller)
  throw invalid({ [field]: ['must be the id of a blob, a data URI of a picture, or an http or https URL'] })
}

async function fetchPicture(url: string, field: string, caller: PictureCaller): Promise<BlobRow> {
  const request = {
    url,
    method: 'GET' as const,
    headers: { accept: 'image/*' },
    deadlineMs: caller.deadlineMs ?? fetchDeadlineMs,
    redirects,
  }
  const { by, outside, outboundQuota } = caller
  const send = () =>
    outside.send({ ...request, keepBytes: pictureLimitBytes + 1 }).catch(() => {
      // Without the reason, which would reveal what is behind the firewall.
      throw invalid({ [field]: ['could not be fetched'] })
    })
  const answer = await (outboundQuota === null ? send() : outboundQuota.run(by, send))
  const { status, body } = answer
  if (status !== 200 || body.length === 0) throw invalid({ [field]: ['could not be fetched'] })
  if (body.length > pictureLimitBytes) throw invalid({ [field]: ['must be at most 5 MiB'] })
  const name = toFileName(URL.parse(url)?.pathname ?? '') || 'picture'
  return keepPicture(body, name, caller)
}

/** Checked by content, whatever the stated type: `image/png` stands for any picture. */
function keepPicture(bytes: Buffer, name: string, caller: PictureCaller): Promise<BlobRow> {
  return keepBlob(caller, async key => {
    await caller.bytes.put(key, [bytes])
    return { name, mediaType: 'image/png' }
  })
}
