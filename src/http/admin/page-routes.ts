import { Readable } from 'node:stream'
import { z } from 'zod'
import { NotFound, requireFound } from '../../lib/errors.ts'
import { Download } from '../answer/download.ts'
import { adminRoute, reply, type Reply, type Route } from '../route.ts'
import type { AdminPage, PageFile } from './page.ts'

/** Paths of views have up to three segments: `/admin/agents/17/runs`. */
const viewPaths = ['/admin', '/admin/', '/admin/{view}', '/admin/{view}/{id}', '/admin/{view}/{id}/{part}']

const View = z.object({ view: z.string().optional(), id: z.string().optional(), part: z.string().optional() })

/** The administration page: its files, and its document under the path of every view. */
export function createPageRoutes(page: AdminPage): Route[] {
  const views = viewPaths.map(path =>
    adminRoute(`GET ${path}`, {
      summary: 'Open the administration page',
      auth: 'none',
      takesAnyQuery: true,
      params: View,
      isDownload: true,
      replies: { 200: z.string() },
      problems: [NotFound],
      async handle({ params, admin }) {
        const segments = Object.values(params).filter(segment => segment !== undefined)
        // File names and mistyped API paths lead to no view.
        if (segments.some(segment => segment.includes('.')) || ['assets', 'api'].includes(segments[0] ?? ''))
          throw NotFound()
        const depth = path.split('/').length - 2
        return toReply(await page.document(depth, admin.acceptEncoding))
      },
    }),
  )
  const asset = adminRoute('GET /admin/assets/{file}', {
    summary: 'Get a file of the administration page',
    auth: 'none',
    takesAnyQuery: true,
    params: z.object({ file: z.string() }),
    isDownload: true,
    replies: { 200: z.string() },
    problems: [NotFound],
    async handle({ params, admin }) {
      const file = requireFound(await page.asset(params.file, admin.acceptEncoding))
      return toReply(file)
    },
  })
  return [...views, asset]
}

function toReply({ type, etag, encoding, bytes }: PageFile): Reply<200> {
  const open = (range?: { first: number; last: number }) =>
    Readable.from([range === undefined ? bytes : bytes.subarray(range.first, range.last + 1)])
  return reply(200, new Download({ sizeBytes: bytes.length, etag, open }), {
    'Content-Type': type,
    Vary: 'Accept-Encoding',
    ...(encoding !== null && { 'Content-Encoding': encoding }),
  })
}
