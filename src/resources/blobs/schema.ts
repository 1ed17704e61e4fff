import { z } from 'zod'
import { Problem, problem } from '../../lib/errors.ts'
import { isBlank, toName, withoutDirection } from '../../lib/name.ts'
import { Int, isStorable, VisibleInput } from '../../api/shape.ts'
import type { ImageFormat } from '../../media/image.ts'

/** The largest file, and the largest request with one. */
export const blobLimitBytes = 100 * 1024 * 1024
export const requestLimitBytes = 128 * 1024 * 1024

const WebAddress = z
  .string()
  .max(2048)
  .refine(text => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an http or https URL')

const Count = z
  .union([z.int().nonnegative(), z.string().regex(/^\d{1,15}$/, 'must be a number')])
  .transform(Number)
  .meta({ type: ['integer', 'string'] })

const Pixels = Count.refine(count => count >= 1 && count <= 1_000_000, 'must be a number of pixels')

/** An external file, which the server never fetches. */
export const ExternalBlob = z.object({
  provider: VisibleInput(256).refine(isStorable, 'cannot be stored').describe('Such as `Google Drive`'),
  link: WebAddress.describe('For viewing'),
  name: z.string().max(256),
  size: Count.describe('Bytes'),
  width: Pixels.nullish(),
  height: Pixels.nullish(),
  media_type: z.string().max(128).nullish(),
  download: WebAddress.nullish(),
  embed: WebAddress.nullish().describe('For showing in a frame'),
  raw: z
    .looseObject({})
    .refine(raw => Buffer.byteLength(JSON.stringify(raw)) <= 65_536, 'must be at most 64 KiB')
    .nullish()
    .describe('What the provider says about it'),
})
export type ExternalBlob = z.output<typeof ExternalBlob>

/** Uploaded bytes, before and after an item uses them. */
export const Blob = z
  .object({
    id: Int,
    name: z.string(),
    media_type: z.string().optional(),
    width: Int.optional().describe('Pixels; only of pictures'),
    height: Int.optional(),
    size: Int.describe('Bytes'),
    thumbnail_url: z.string().optional(),
    raw: z.string().optional().describe('JSON of the provider; only of files that are kept elsewhere'),
  })
  .meta({ id: 'Blob' })

/** A row of `blobs`. */
export interface BlobRow {
  id: number
  name: string
  media_type: string
  size: number
  width: number | null
  height: number | null
  image: ImageFormat | null
  /** Null for an external file. */
  key: string | null
  secret: string
  provider: string | null
  link: string | null
  download: string | null
  embed: string | null
  raw: Record<string, unknown> | null
  created_at: Date
  created_by: number
}

export const ContentMissing = problem(
  500,
  'content-missing',
  'The content of this file is missing where the server keeps uploads. This has been logged.',
)
export const NoBlob = problem(422, 'no-blob', 'The form needs exactly one file, in a part named blob.', {
  errors: { blob: ['must be one file that is not empty, with a name'] },
})

/** NoBlob with what is wrong with the form. */
export function noBlob(detail: string): Problem {
  const { status, code } = NoBlob
  return new Problem(status, code, detail, { errors: { blob: ['must be one file that is not empty, with a name'] } })
}

export const TooManyParts = problem(422, 'too-many-parts', 'The form has more parts than this server reads.', {
  errors: { blob: ['must be sent with at most 20 other parts'] },
})
export const BlobTooLarge = problem(422, 'blob-too-large', 'The file is larger than this server takes.', {
  errors: { blob: [`must be at most ${blobLimitBytes / 1024 / 1024} MiB`] },
})

/**
 * The name of a file: the last segment of a path, in NFC, without control characters and marks that turn the direction of
 * text. Empty where nothing is left that is seen.
 */
export function toFileName(text: string): string {
  const name = text.toWellFormed().split(/[/\\]/).at(-1)!
  // The extension determines the type, so it is kept.
  const clean = toName(withoutDirection(name.replace(/\p{Cc}/gu, '')))
  if (isBlank(clean)) return ''
  if (clean.length <= 256) return clean
  const extension = /\.[^.]{1,32}$/.exec(clean)?.[0] ?? ''
  return (clean.slice(0, 256 - extension.length) + extension).toWellFormed()
}
