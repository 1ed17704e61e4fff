import { parseFragment, type DefaultTreeAdapterTypes } from 'parse5'

type Element = DefaultTreeAdapterTypes.Element

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

/** Somebody else's page in a frame. */
export interface Frame {
  /** Written by us from what the parser understood. */
  html: string
  src: URL
  width: number | null
  height: number | null
}

/**
 * The one `<iframe>` that a text consists of, with the attributes that may stay; null where there is anything else, or
 * its address is not https. The parser is the one of the HTML standard, so that no browser sees more in it than we do.
 */
export function toFrame(text: string): Frame | null {
  // Stray end tags vanish in the parser.
  if (!/^\s*<iframe[\s>][^]*<\/iframe>\s*$/i.test(text)) return null
  const nodes = parseFragment(text).childNodes.filter(node => !isBlank(node))
  const [frame] = nodes
  if (nodes.length !== 1 || frame === undefined || !isFrame(frame)) return null
  // What is written inside is not shown, but nobody has a reason to send it.
  if (frame.childNodes.some(node => !isBlank(node))) return null
  const attributes = new Map(frame.attrs.map(({ name, value }) => [name, value]))
  const src = URL.parse(attributes.get('src')?.trim() ?? '')
  if (src?.protocol !== 'https:') return null
  attributes.set('src', src.href)
  const kept = [...attributes].filter(([name]) => allowed.has(name))
  const html = `<iframe${kept.map(writeAttribute).join('')}></iframe>`
  return { html, src, width: toPixels(attributes.get('width')), height: toPixels(attributes.get('height')) }
}

function isFrame(node: DefaultTreeAdapterTypes.ChildNode): node is Element {
  return node.nodeName === 'iframe'
}

function isBlank(node: DefaultTreeAdapterTypes.ChildNode): boolean {
  return node.nodeName === '#text' && 'value' in node && node.value.trim() === ''
}

function writeAttribute([name, value]: [string, string]): string {
  const text = value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return value === '' ? ` ${name}` : ` ${name}="${text}"`
}

function toPixels(text: string | undefined): number | null {
  const pixels = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0
  return pixels > 0 && pixels <= 20_000 ? pixels : null
}
