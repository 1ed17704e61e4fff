import { toFrame } from './frame.ts'
import type { PageHead } from './page.ts'
import type { EmbedRow } from '../schema.ts'

/** The preview of a URL before it is stored. `image` is a URL. */
export interface Preview extends Omit<
  EmbedRow,
  'id' | 'image_id' | 'image' | 'url' | 'actions' | 'metadata' | 'source' | `created_${'at' | 'by'}`
> {
  image: string | null
}

/**
 * Hosts whose frames are shown within other pages: well-known players, made for that. A page that names any other host
 * gets a link.
 */
const frameHosts = [
  'youtube.com',
  'youtube-nocookie.com',
  'player.vimeo.com',
  'dailymotion.com',
  'player.twitch.tv',
  'open.spotify.com',
  'w.soundcloud.com',
  'embed.ted.com',
  'fast.wistia.net',
  'loom.com',
  'codepen.io',
  'figma.com',
]

/** The preview of a picture. */
export function previewImage(url: URL): Preview {
  const name = url.pathname.split('/').at(-1) ?? ''
  return { ...blank(url), type: 'photo', title: toLine(decode(name), 512), image: url.href }
}

/**
 * The preview of a page by its own metadata: Open Graph first, then cards, then standard elements. Null where there is
 * none.
 */
export function previewPage(url: URL, { title, metas, links, base }: PageHead): Preview | null {
  const start = URL.parse(base ?? '', url.href)?.href ?? url.href
  const pick = (...names: string[]) => names.map(name => metas.get(name)).find(Boolean)
  const icon =
    links.find(({ rel }) => rel.includes('apple-touch-icon')) ?? links.find(({ rel }) => rel.includes('icon'))
  const image = pick('og:image:secure_url', 'og:image', 'og:image:url', 'twitter:image', 'twitter:image:src')
  const preview: Preview = {
    ...blank(url),
    title: toLine(pick('og:title', 'twitter:title') ?? title, 512),
    description: toText(pick('og:description', 'twitter:description', 'description')),
    image: toWebAddress(image ?? icon?.href, start),
    author_name: toLine(pick('article:author:name', 'author', 'twitter:creator'), 256),
    provider_name: toLine(pick('og:site_name', 'application-name'), 256) ?? url.hostname,
  }
  return preview.title === null && preview.description === null && image === undefined ? null : preview
}

/** Adds a page's oEmbed answer to its preview. */
export function addOembed(preview: Preview, oembed: Record<string, unknown>): Preview {
  const text = (name: string) => (typeof oembed[name] === 'string' ? (oembed[name] as string) : undefined)
  const title = toLine(text('title'), 512) ?? preview.title
  const image = toWebAddress(oembed.type === 'photo' ? text('url') : text('thumbnail_url')) ?? preview.image
  const named: Preview = {
    ...preview,
    title,
    image,
    author_name: toLine(text('author_name'), 256) ?? preview.author_name,
    author_url: toWebAddress(text('author_url')),
    provider_name: toLine(text('provider_name'), 256) ?? preview.provider_name,
    provider_url: toWebAddress(text('provider_url')) ?? preview.provider_url,
  }
  if (oembed.type === 'photo' && toWebAddress(text('url')) !== null) return { ...named, type: 'photo' }
  if (oembed.type !== 'video' && oembed.type !== 'rich') return named
  const frame = toFrame(text('html') ?? '')
  if (frame === null || !isFrameHost(frame.src.hostname)) return named
  const width = frame.width ?? toPixels(oembed.width)
  const height = frame.height ?? toPixels(oembed.height)
  return { ...named, type: oembed.type, html: frame.html, width, height }
}

/** The URL of a page's oEmbed answer. */
export function findOembed(url: URL, { links, base }: PageHead): string | null {
  const start = URL.parse(base ?? '', url.href)?.href ?? url.href
  const link = links.find(({ rel, type }) => rel.includes('alternate') && type === 'application/json+oembed')
  return toWebAddress(link?.href, start)
}

function blank(url: URL): Preview {
  return {
    type: 'link',
    title: null,
    description: null,
    image: null,
    author_name: null,
    author_url: null,
    provider_name: url.hostname,
    provider_url: url.origin,
    html: null,
    width: null,
    height: null,
  }
}

function isFrameHost(host: string): boolean {
  return frameHosts.some(known => host === known || host.endsWith(`.${known}`))
}

function toLine(text: string | undefined, longest: number): string | null {
  const line = clean(text ?? '')
    .replace(/\s+/g, ' ')
    .trim()
  return line === '' ? null : line.slice(0, longest).toWellFormed()
}

function toText(text: string | undefined): string | null {
  const lines = clean(text ?? '').trim()
  return lines === '' ? null : lines.slice(0, 4_096).toWellFormed()
}

function clean(text: string): string {
  return text.toWellFormed().replace(/[^\P{Cc}\n\t]/gu, '')
}

/** An absolute http or https URL within the limit of length; null for anything else. */
function toWebAddress(text: string | undefined, start?: string): string | null {
  const url = text === undefined ? null : URL.parse(text.trim(), start)
  return url !== null && /^https?:$/.test(url.protocol) && url.href.length <= 2_048 ? url.href : null
}

function toPixels(value: unknown): number | null {
  const pixels = Number(value)
  return Number.isInteger(pixels) && pixels > 0 && pixels <= 20_000 ? pixels : null
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not percent-encoded.
    return text
  }
}
