import hljs from 'highlight.js/lib/common'
import type { Readable } from 'node:stream'
import { NotFound } from '../../lib/errors.ts'
import type { Bytes } from '../../storage/bytes.ts'
import { extensionOf } from '../blobs/media-types.ts'
import { escapeText } from '../content/text/html.ts'
import { parseText } from '../content/text/render.ts'
import type { FileBlob } from './schema.ts'

/** Nobody reads more in a preview; the whole file can be downloaded. */
const textLimitBytes = 512 * 1024

/** Highlighting takes a millisecond for each 2 KiB, on the thread that serves everybody. A guess. */
const highlightLimit = 32 * 1024

/** Rendered Markdown is bounded like that of content. */
const markdownLimit = 64 * 1024

/** Safe HTML for a file of code: escaped, with classes for the colours where the language is known. */
export async function showCode(name: string, blob: FileBlob, bytes: Bytes): Promise<string> {
  const text = await readText(blob, bytes)
  const language = extensionOf(name)
  const isColoured = text.length <= highlightLimit && hljs.getLanguage(language) !== undefined
  const code = isColoured ? hljs.highlight(text, { language, ignoreIllegals: true }).value : escapeText(text)
  return `<pre><code class="hljs">${code}</code></pre>`
}

/** Safe HTML for a file of Markdown, made as that of messages is. */
export async function showMarkdown(blob: FileBlob, bytes: Bytes): Promise<string> {
  const text = await readText(blob, bytes)
  const { html } = parseText(text.slice(0, markdownLimit))
  return html ?? ''
}

export async function readText({ key, size }: FileBlob, bytes: Bytes): Promise<string> {
  const limit = Math.min(size, textLimitBytes)
  const source = key === null ? null : await bytes.open(key, { first: 0, last: limit - 1 })
  if (source === null) throw NotFound()
  const text = decode(await readAll(source), { isCut: limit < size })
  return text.replaceAll('\0', '\u{FFFD}').replace(/\r\n?/g, '\n')
}

/** By its byte order mark, as UTF-8 where it is that, and else as what Windows saved before. */
function decode(bytes: Buffer, { isCut }: { isCut: boolean }): string {
  const mark = bytes.toString('latin1', 0, 2)
  if (mark === '\xff\xfe') return new TextDecoder('utf-16le').decode(bytes)
  if (mark === '\xfe\xff') return new TextDecoder('utf-16be').decode(bytes)
  try {
    // A character that was cut in two is left out.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })
  } catch {
    // Any bytes are text in this one.
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

async function readAll(source: Readable): Promise<Buffer> {
  return Buffer.concat(await source.toArray())
}
