import { textExtensions } from '../../media/text-files.ts'

/** The formats that text can be extracted from. `text` is any readable text, including CSV and code. */
export type TextFormat = 'text' | 'html' | 'pdf' | 'docx' | 'xlsx' | 'pptx'

export interface ExtractionOrder {
  format: TextFormat
  /** The document, or the path of a file that holds it. */
  source: Uint8Array | string
  /** True: the parts of the answer are passages, as they are stored for search. */
  asPassages?: boolean
}

export interface ExtractedPart {
  /** A page, slide or sheet, where the format has these. */
  place: string | null
  text: string
}

/** The text of a document, or the reason why there is none, in words for its uploader. */
export type Extracted = { state: 'done'; parts: ExtractedPart[] } | { state: 'failed'; reason: string }

/** The document itself cannot be read: trying again is of no use. */
export class Unreadable extends Error {}

/** Larger documents are not read. */
export const documentLimitBytes = 20 * 1024 * 1024

/** Characters that are extracted from one document; the rest is left out. Twice what is ever stored. */
export const textLimit = 12_000_000

export const brokeDown: Extracted = {
  state: 'failed',
  reason: 'Reading it takes more time or memory than a document may take.',
}

const formats = new Map<string, TextFormat>([
  ...`${textExtensions.code} ${textExtensions.text} csv`.split(' ').map(extension => [extension, 'text'] as const),
  ['htm', 'html'],
  ['html', 'html'],
  ['pdf', 'pdf'],
  ['docx', 'docx'],
  ['xlsx', 'xlsx'],
  ['pptx', 'pptx'],
])

const mediaTypes = new Map<string, TextFormat>([
  ['text/html', 'html'],
  ['application/json', 'text'],
  ['application/xml', 'text'],
  ['application/pdf', 'pdf'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'pptx'],
])

/**
 * The format of a file by its name, or by its media type where the name has no extension; null where it is not
 * readable.
 */
export function formatOf({ name, media_type }: { name: string; media_type: string }): TextFormat | null {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase()
  if (extension !== undefined) return formats.get(extension) ?? null
  return mediaTypes.get(media_type) ?? (media_type.startsWith('text/') ? 'text' : null)
}
