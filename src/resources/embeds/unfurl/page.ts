import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import sniffEncoding from 'html-encoding-sniffer'
import { Parser } from 'htmlparser2'

/** The head of an HTML page. */
export interface PageHead {
  title: string
  /** The first of each `property` or `name`, in lower case. Empty ones are left out. */
  metas: ReadonlyMap<string, string>
  /** `<link>` elements with an href, in their order; `rel` in lower case. */
  links: { rel: string[]; type: string; href: string }[]
  /** The base URL of relative ones, if the page names one. */
  base: string | null
}

/** The most elements that are read: more are in no page written by hand. A guess. */
const elementLimit = 5_000

/**
 * The most nested elements: heads are flat, and the parser searches all open elements for end tags and forms, so that
 * nesting is costly. A guess.
 */
const depthLimit = 100

/**
 * Characters that the parser gets at once. Hostile pages take up to 7 ms for that (measured), plain ones less than one.
 */
const chunkLength = 32_768

/** Decodes a page: by its byte order mark, its Content-Type, its own declaration, or a guess. */
export function decodePage(body: Buffer, contentType: string): string {
  const label = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1]
  const encoding = sniffEncoding(body, {
    ...(label !== undefined && { transportLayerEncodingLabel: label }),
    defaultEncoding: isUtf8(body) ? 'UTF-8' : 'windows-1252',
  })
  try {
    return new TextDecoder(encoding).decode(body)
  } catch {
    // An encoding that only browsers know, such as x-user-defined.
    return new TextDecoder('windows-1252').decode(body)
  }
}

/** Parses the head of a page, up to `<body>`, and yields the event loop in between. */
export async function readHead(html: string): Promise<PageHead> {
  const metas = new Map<string, string>()
  const head = { title: '', metas, links: [] as PageHead['links'], base: null as string | null }
  let elements = 0
  let depth = 0
  let isDone = false
  let titles = 0
  const parser = new Parser({
    onopentag(name, attributes) {
      depth++
      if (++elements > elementLimit || depth > depthLimit || name === 'body') finish()
      if (isDone) return
      if (name === 'title') titles++
      else if (name === 'meta') readMeta(attributes, metas)
      else if (name === 'base') head.base ??= attributes.href ?? null
      else if (name === 'link' && attributes.href) {
        const rel = (attributes.rel ?? '').toLowerCase().split(/\s+/)
        head.links.push({ rel, type: (attributes.type ?? '').toLowerCase(), href: attributes.href })
      }
    },
    ontext(text) {
      if (titles === 1 && !isDone) head.title += text
    },
    onclosetag(name) {
      depth--
      if (name === 'title') titles++
      else if (name === 'head') finish()
    },
  })
  function finish() {
    isDone = true
    parser.pause()
  }
  for (let at = 0; at < html.length; at += chunkLength) {
    parser.write(html.slice(at, at + chunkLength))
    if (isDone) break
    await setImmediate()
  }
  return head
}

function readMeta({ property, name, content }: Record<string, string>, metas: Map<string, string>): void {
  const key = (property ?? name ?? '').trim().toLowerCase()
  const value = (content ?? '').trim()
  if (key !== '' && value !== '' && !metas.has(key)) metas.set(key, value)
}
