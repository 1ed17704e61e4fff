import { Parser } from 'htmlparser2'

/** The most characters of a frame; those of players take some hundreds. */
export const longestFrame = 8_192

const allowed = new Set([
  'src',
  'width',
  'height',
  'title',
  'allow',
  'allowfullscreen',
  'frameborder',
  'loading',
  'referrerpolicy',
])

/** A page of another site in a frame. */
export interface Frame {
  /** Written by this server from the parsed attributes. */
  html: string
  src: URL
  width: number | null
  height: number | null
}

/**
 * The one `<iframe>` that a text consists of, with the allowed attributes; null where there is anything else, or its
 * URL is not https.
 */
export function toFrame(text: string): Frame | null {
  if (text.length > longestFrame) return null
  const attributes = readAttributes(text.replaceAll('\0', '\uFFFD'))
  const src = URL.parse(attributes?.get('src')?.trim() ?? '')
  if (attributes === null || src?.protocol !== 'https:') return null
  attributes.set('src', src.href)
  const kept = [...attributes].filter(([name]) => allowed.has(name))
  const html = `<iframe${kept.map(writeAttribute).join('')}></iframe>`
  return { html, src, width: toPixels(attributes.get('width')), height: toPixels(attributes.get('height')) }
}

/**
 * Only the start tag is parsed: repairing unclosed elements after it takes time and memory that grow with the square of
 * the text.
 */
function readAttributes(text: string): Map<string, string> | null {
  if (!/^\s*<iframe[\s>]/i.test(text)) return null
  let attributes: Map<string, string> | null = null
  let rest = ''
  const parser = new Parser({
    onopentag(_name, found) {
      parser.pause()
      attributes = new Map(Object.entries(found))
      rest = text.slice(parser.endIndex + 1)
    },
  })
  parser.write(text)
  return /^\s*<\/iframe>\s*$/i.test(rest) ? attributes : null
}

function writeAttribute([name, value]: [string, string]): string {
  const text = value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return value === '' ? ` ${name}` : ` ${name}="${text}"`
}

function toPixels(text: string | undefined): number | null {
  const pixels = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0
  return pixels > 0 && pixels <= 20_000 ? pixels : null
}
