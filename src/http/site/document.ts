import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { reply, type Reply } from '../route.ts'
import { escapeHtml } from './markdown.ts'

export interface Link {
  title: string
  path: string
}

/** A part of the table of contents. */
export interface Chapter {
  title: string
  links: readonly Link[]
}

interface PageParts {
  title: string
  /** The address of the page, which is marked in the table of contents. */
  path: string
  chapters: readonly Chapter[]
  html: string
  /** Headings of the page itself. */
  outline?: readonly Link[]
  /** What was searched for. */
  query?: string
  script?: string | undefined
}

/** The page's colours are those of the administration page. */
const style = ['../../admin/styles/tokens.css', 'site.css']
  .map(file => readFileSync(new URL(file, import.meta.url), 'utf8'))
  .join('\n')

/** How a policy names a script or style. */
const toSource = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const styleSource = toSource(style)

/**
 * Nothing of another server. `formTarget`: where the answer to a form may lead, beside this server. `script`: the only one,
 * which may send requests to this server.
 */
function toPolicy({ formTarget, script }: DocumentExtras): string {
  const policy = `default-src 'none'; style-src ${styleSource}; img-src 'self'; form-action 'self'${formTarget === undefined ? '' : ` ${formTarget}`}; frame-ancestors 'none'; base-uri 'none'`
  return script === undefined ? policy : `${policy}; script-src ${toSource(script)}; connect-src 'self'`
}

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f5fd0"/><path d="M8 9h12v9h-6l-4 4v-4H8z" fill="#fff"/><path d="M22 13h2v8h-2v3l-3-3h-4" fill="none" stroke="#fff" stroke-width="1.75" stroke-linejoin="round" opacity=".75"/></svg>
`

interface DocumentExtras {
  /** Where the answer to a form of the page may lead, beside this server. */
  formTarget?: string | undefined
  /** What the page can do besides; it may send requests to this server. */
  script?: string | undefined
}

/** A page for people. Its style is within it, so that it is painted after one answer. */
export function toDocument(title: string, body: string, extras: DocumentExtras = {}): Reply<200> {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>${style}</style>
${body}
${extras.script === undefined ? '' : `<script type="module">${extras.script}</script>\n`}</html>
`
  return reply(200, html, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': toPolicy(extras),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-cache',
  })
}

/** A page with the table of contents beside it; on a narrow window, below it. */
export function toPage({ title, path, chapters, html, outline = [], query = '', script }: PageParts): Reply<200> {
  const links = chapters.flatMap(chapter => chapter.links)
  const place = links.findIndex(link => link.path === path)
  const [before, after] = place === -1 ? [] : [links[place - 1], links[place + 1]]
  return toDocument(
    `${title} · Parley`,
    `<a class="skip" href="#main">Skip to the text</a>
<header class="top">
<a class="brand" href="/"><img src="/favicon.svg" alt="" width="24" height="24">Parley</a>
<form action="/docs" role="search"><input type="search" name="q" value="${escapeHtml(query)}" aria-label="Search guides and reference" placeholder="Search" maxlength="100" required></form>
<a class="to-contents" href="#contents">Contents</a>
</header>
<div class="columns">
<main id="main">
${html}
${before || after ? `<p class="turn">${before ? `<a href="${before.path}" rel="prev">← ${before.title}</a>` : '<span></span>'}${after ? `<a href="${after.path}" rel="next">${after.title} →</a>` : ''}</p>` : ''}
</main>
${outline.length > 2 ? `<nav class="outline" aria-label="On this page"><p>On this page</p>${toList(outline)}</nav>` : ''}
<nav id="contents" class="contents" aria-label="Contents">
${chapters.map(chapter => `<p>${chapter.title}</p>${toList(chapter.links, path)}`).join('\n')}
</nav>
</div>`,
    { script },
  )
}

function toList(links: readonly Link[], path?: string): string {
  const items = links.map(link => {
    const mark = link.path === path ? ' aria-current="page"' : ''
    return `<li><a href="${link.path}"${mark}>${escapeHtml(link.title)}</a></li>`
  })
  return `<ul>${items.join('')}</ul>`
}
