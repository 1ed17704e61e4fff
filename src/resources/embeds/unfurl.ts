import { EgressFailed } from '../../egress/egress-failed.ts'
import type { Outside } from '../../egress/outside.ts'
import { decodePage, readHead } from './page.ts'
import { addOembed, findOembed, previewImage, previewPage, type Preview } from './preview.ts'

/** What is read of a page: the heads of the longest ones fit. */
const pageBytes = 1024 * 1024
const oembedBytes = 64 * 1024

/** An http or https address in one spelling, without what only concerns the browser; null for anything else. */
export function normalise(text: string): URL | null {
  const url = URL.parse(text.trim())
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > 2_048) return null
  url.hash = ''
  // Passwords are no part of what a link leads to, and nothing to be kept.
  url.username = ''
  url.password = ''
  return url
}

/** Looks at what is at an address. Null where it cannot be reached in time, refuses, or says nothing about itself. */
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
  // A page without a word of its own may still have somebody speak for it.
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
    // For the caller there is nothing to embed; why is none of its business.
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
    // Not JSON: then it says nothing.
    return null
  }
}
