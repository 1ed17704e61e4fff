import { z } from 'zod'
import { invalid, problem } from '../../lib/errors.ts'
import { IdInput, Int, LineInput, Metadata, MetadataInput, VisibleInput } from '../../api/shape.ts'
import { PictureInput } from '../blobs/pictures/schema.ts'
import { Blob, type BlobRow } from '../blobs/schema.ts'
import { longestFrame, toFrame } from './unfurl/frame.ts'

const embedTypes = ['link', 'rich', 'video', 'photo'] as const
export type EmbedType = (typeof embedTypes)[number]

const isWeb = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '')

/** Far above any screen. */
const Pixels = IdInput.refine(pixels => pixels > 0 && pixels <= 20_000, 'must be from 1 to 20000')

const Html = z
  .string()
  .max(longestFrame)
  .transform((text, context) => {
    const frame = toFrame(text)
    if (frame !== null) return frame.html
    context.addIssue({ code: 'custom', message: 'must be a single <iframe> element with an https src' })
    return z.NEVER
  })

/** An embed described by the caller, instead of looked up. */
export const NewEmbed = z
  .object({
    type: z.enum(['link', 'rich', 'video']),
    title: LineInput(512).nullish(),
    description: z.string().trim().max(4_096).nullish(),
    image: PictureInput,
    url: z.string().trim().max(2_048).refine(isWeb, 'must be an absolute http or https URL').nullish(),
    actions: z.array(VisibleInput(64)).max(5).nullish().describe('Buttons of a link'),
    metadata: MetadataInput.nullish(),
    html: Html.nullish().describe('A single <iframe> element, for rich and video'),
    width: Pixels.nullish().describe('For rich and video, in pixels'),
    height: Pixels.nullish().describe('For rich and video, in pixels'),
  })
  .check(({ value, issues }) => {
    const refuse = (field: string, message: string) =>
      issues.push({ code: 'custom', path: [field], message, input: value })
    const isLink = value.type === 'link'
    if (isLink && !value.title && !value.url) refuse('title', 'must be given for a link without url')
    if (isLink && value.html) refuse('html', 'goes with rich and video only')
    if (isLink && value.width) refuse('width', 'goes with rich and video only')
    if (isLink && value.height) refuse('height', 'goes with rich and video only')
    if (!isLink && value.actions?.length) refuse('actions', 'go with link only')
    if (!isLink && !value.html) refuse('html', 'must be given for rich and video')
  })
export type NewEmbed = z.output<typeof NewEmbed>

export const EmbedQuery = z.object({ url: z.string().describe('What to embed') })

export const Embed = z
  .object({
    id: Int,
    type: z.enum(embedTypes),
    title: z.string().optional(),
    description: z.string().optional(),
    url: z.string().optional(),
    image: Blob.optional(),
    thumbnail_url: z.string().optional(),
    actions: z.array(z.string()).optional(),
    metadata: Metadata.optional(),
    author_name: z.string().optional(),
    author_url: z.string().optional(),
    provider_name: z.string().optional(),
    provider_url: z.string().optional(),
    html: z.string().optional(),
    width: Int.optional(),
    height: Int.optional(),
  })
  .meta({ id: 'Embed' })

/** A row of `embeds`. */
export interface EmbedRow {
  id: number
  type: EmbedType
  title: string | null
  description: string | null
  image_id: number | null
  image: Omit<BlobRow, 'created_at'> | null
  url: string | null
  actions: string[]
  metadata: Record<string, unknown> | null
  author_name: string | null
  author_url: string | null
  provider_name: string | null
  provider_url: string | null
  html: string | null
  width: number | null
  height: number | null
  source: string | null
  created_at: Date
  created_by: number
}

export const UnknownEmbed = () => invalid({ embed_id: ['there is no such embed'] })
export const NotAnAddress = problem(400, 'not-a-web-address', 'Only http and https addresses can be embedded.')
export const NothingToEmbed = problem(404, 'nothing-to-embed', 'Nothing could be found at this address to embed.')
