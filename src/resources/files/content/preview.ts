import type { Readable } from 'node:stream'
import { extensionOf } from '../../blobs/uploads/media-types.ts'
import { refuseMissing, type BlobParts } from '../../blobs/content/serve.ts'
import { escapeText } from '../../content/text/html.ts'
import type { Served } from '../../route.ts'
import type { FileBlob } from '../schema.ts'

/** More than a preview's readers read; the whole file can be downloaded. */
const textLimitBytes = 512 * 1024

/** Larger code is shown without colours, which would take longest for it. A guess. */
const highlightLimitBytes = 32 * 1024

/** The limit of rendered Markdown, as for content. */
const markdownLimit = 64 * 1024

/** What making a preview takes. */
type PreviewParts = Served<'sql' | 'bytes' | 'previews'>

/** Safe HTML for code: escaped, with classes for colours where the language is known. */
export async function showCode(name: string, blob: FileBlob, parts: PreviewParts): Promise<string> {
  const language = extensionOf(name)
  const read = async () => ({ form: 'code' as const, language, text: await readText(blob, parts) })
  const coloured =
    blob.size <= highlightLimitBytes ? await parts.previews.of(`${blob.id}.${language}`, blob.created_by, read) : null
  return toCode(coloured ?? escapeText(await readText(blob, parts)))
}

/** Safe HTML for Markdown, rendered as messages are; the source text where that fails. */
export async function showMarkdown(blob: FileBlob, parts: PreviewParts): Promise<string> {
  const read = async () => (await readText(blob, parts)).slice(0, markdownLimit)
  const html = await parts.previews.of(`${blob.id}.html`, blob.created_by, async () => ({
    form: 'Markdown',
    text: await read(),
  }))
  return html ?? toCode(escapeText(await read()))
}

export async function readText(blob: FileBlob, parts: BlobParts): Promise<string> {
  const { key, size } = blob
  const limit = Math.min(size, textLimitBytes)
  const source = key === null ? null : await parts.bytes.open(key, { first: 0, last: limit - 1 })
  if (source === null) return refuseMissing(blob, parts)
  const text = decode(await readAll(source), { isCut: limit < size })
  // Splitting and joining is four times as fast as replacing where there is much to replace (measured).
  return text.split('\0').join('\u{FFFD}').replace(/\r\n?/g, '\n')
}

/**
 * Decodes by the byte order mark, as UTF-8 where that is valid, otherwise as Windows-1252, the old default of Windows.
 */
function decode(bytes: Buffer, { isCut }: { isCut: boolean }): string {
  const mark = bytes.toString('latin1', 0, 2)
  if (mark === '\xff\xfe') return new TextDecoder('utf-16le').decode(bytes)
  if (mark === '\xfe\xff') return new TextDecoder('utf-16be').decode(bytes)
  try {
    // A truncated character is left out.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })
  } catch {
    // Any bytes are valid in Windows-1252.
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

function toCode(html: string): string {
  return `<pre><code class="hljs">${html}</code></pre>`
}

async function readAll(source: Readable): Promise<Buffer> {
  return Buffer.concat(await source.toArray())
}
