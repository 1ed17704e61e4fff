import { EgressFailed } from '../../../egress/egress-failed.ts'
import type { Outside } from '../../../egress/outside.ts'
import { decodePage, readHead } from './page.ts'
import { addOembed, findOembed, previewImage, previewPage, type Preview } from './preview.ts'

/** Bytes read of a page: the longest heads fit. */
const pageBytes = 1024 * 1024
const oembedBytes = 64 * 1024

/** Normalises an http or https URL, without fragment and credentials; null for anything else. */
export function normalise(text: string): URL | null {
  const url = URL.parse(text.trim())
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > 2_048) return null
  url.hash = ''
  // Credentials are not part of a link's target, and must not be stored.
  url.username = ''
  url.password = ''
  return url
}

/** Fetches the preview of a URL. Null where it cannot be reached in time, refuses, or has no metadata. */
export async function unfurl(url: URL, outside: Outside, deadlineMs: number): Promise<Preview | null> {
  const startedAt = performance.now()
  const answer = await get(url.href, outside, {
    accept: 'text/html, image/*;q=0.8, */*;q=0.1',
    keepBytes: pageBytes,
    leftMs: deadlineMs,
  })
  if (answer === null) return null
  const type = (answer.headers['content-type'] ?? '').toLowerCase()
  if (type.startsWith('image/')) return previewImage(url)
  if (!/^(text\/html|application\/xhtml\+xml)\b/.test(type)) return null

  const head = await readHead(decodePage(answer.body, type))
  const page = previewPage(answer.url, head)
  const address = findOembed(answer.url, head)
  const leftMs = Math.floor(deadlineMs - (performance.now() - startedAt))
  if (address === null || leftMs < 100) return page
  const more = await get(address, outside, { accept: 'application/json', keepBytes: oembedBytes, leftMs })
  const oembed = more === null ? null : readObject(more.body)
  if (oembed === null) return page
  // A page without metadata may still have an oEmbed answer.
  const preview = addOembed(page ?? previewNothing(answer.url), oembed)
  return preview.title === null && preview.image === null && preview.html === null ? null : preview
}

interface Wanted {
  accept: string
  keepBytes: number
  leftMs: number
}

async function get(url: string, outside: Outside, { accept, keepBytes, leftMs }: Wanted) {
  try {
    const headers = { accept, 'accept-language': 'en' }
    const answer = await outside.send({ url, method: 'GET', headers, deadlineMs: leftMs, keepBytes, redirects: 3 })
    return answer.status >= 200 && answer.status < 300 ? answer : null
  } catch (error) {
    if (!(error instanceof EgressFailed)) throw error
    // To the caller there is nothing to embed, for whatever reason.
    return null
  }
}

function previewNothing(url: URL): Preview {
  return { ...previewImage(url), type: 'link', title: null, image: null }
}

function readObject(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    // Malformed JSON counts as empty.
    return null
  }
}
