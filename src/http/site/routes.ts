import { Readable } from 'node:stream'
import { z } from 'zod'
import type { ApiDescription } from '../about/description.ts'
import { NotFound, requireFound } from '../../lib/errors.ts'
import { Download } from '../answer/download.ts'
import { Encoded } from '../../api/json.ts'
import { reply, route, type Reply, type Route } from '../route.ts'
import { icon, toPage, type Chapter } from './document.ts'
import { Guides } from './guides.ts'
import { showHome, type HomeParts } from './home.ts'
import { Reference } from './reference.ts'
import type { Description } from './schema-table.ts'
import { search, toIndex } from './search.ts'

const iconHeaders = { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=86400' }

/** Pages for people: the first one, the guides, and the reference. They are no part of the API and not described in it. */
export function createSiteRoutes(home: HomeParts, description: ApiDescription): Route[] {
  const guides = new Guides()
  let made: Promise<Reference> | undefined
  const reference = () => (made ??= description.document.then(document => new Reference(document as Description)))
  const beside: Chapter = { title: 'Reference', links: [{ title: 'All operations', path: '/api/docs' }] }
  const chapters = () => [...guides.chapters, beside]
  let index: ReturnType<typeof toIndex> | undefined
  /** What was answered, by the path: the same for all, as long as the process runs. */
  const kept = new Map<string, Reply<200>>()
  const keep = async (path: string, show: () => Reply<200> | Promise<Reply<200>>) => {
    const known = kept.get(path) ?? encode(await show())
    kept.set(path, known)
    return known
  }

  const page = (path: `/${string}`, show: (name: string) => Reply<200> | Promise<Reply<200>>): Route =>
    route(`GET ${path}`, {
      summary: 'Read a page',
      auth: 'none',
      takesAnyQuery: true,
      params: z.object({ name: z.string().default('') }),
      replies: { 200: z.string() },
      problems: [NotFound],
      handle: ({ params: { name } }) => show(name),
    })

  const showGuide = (name: string, path: string) =>
    keep(path, () => {
      const { html, headings } = requireFound(guides.page(name))
      const level2 = headings.filter(({ level }) => level === 2)
      const outline = level2.map(({ text, id }) => ({ title: text, path: `#${id}` }))
      return toPage({ title: headings[0]?.text ?? name, path, chapters: chapters(), html, outline })
    })
  const showReference = (path: string, tag: string | null) =>
    keep(path, async () => {
      const { title, html, outline, script, links } = requireFound((await reference()).page(tag))
      const chapters = [{ title: 'Reference', links }, ...guides.chapters]
      return toPage({ title, path, chapters, html, outline, script })
    })

  const showFound = (index: ReturnType<typeof toIndex>, q: string) =>
    toPage({ title: 'Search', path: '/docs?q', chapters: chapters(), html: search(index, q), query: q })

  return [
    page('/', () => keep('/', () => showHome(home))),
    ...(['/favicon.ico', '/favicon.svg'] as const).map(path => page(path, () => reply(200, icon, iconHeaders))),
    route('GET /docs', {
      summary: 'Read the table of contents of the guides, or search guides and reference',
      auth: 'none',
      areCallersShared: true,
      takesAnyQuery: true,
      query: z.object({ q: z.string().optional() }),
      replies: { 200: z.string() },
      handle({ query: { q } }) {
        if (q === undefined) return showGuide('readme', '/docs')
        if (index !== undefined) return showFound(index, q)
        return reference().then(({ sections }) => showFound((index ??= toIndex([...guides.sections, ...sections])), q))
      },
    }),
    page('/docs/{name}', name => showGuide(name, `/docs/${name}`)),
    route('GET /docs/{folder}/{file}', {
      summary: 'Get a picture, or a file that a guide links to',
      auth: 'none',
      takesAnyQuery: true,
      isDownload: true,
      params: z.object({ folder: z.string(), file: z.string() }),
      replies: { 200: z.string() },
      problems: [NotFound],
      handle({ params: { folder, file } }) {
        const { type, bytes } = requireFound(guides.file(folder, file))
        const open = () => Readable.from([bytes])
        return reply(200, new Download({ sizeBytes: bytes.length, etag: null, open }), {
          'Content-Type': type,
          'Cache-Control': 'public, max-age=3600',
          'X-Content-Type-Options': 'nosniff',
        })
      },
    }),
    page('/api/docs', () => showReference('/api/docs', null)),
    page('/api/docs/{name}', name => showReference(`/api/docs/${name}`, name)),
  ]
}

function encode({ body, ...rest }: Reply<200>): Reply<200> {
  return { ...rest, body: new Encoded(String(body)) }
}
