import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { z } from 'zod'
import { NotFound } from '../../lib/errors.ts'
import { reply, route, type Route } from '../route.ts'

/** The files that the page loads, from the package `swagger-ui-dist`; nothing comes from another server. */
const types = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['start.js', 'text/javascript; charset=utf-8'],
])

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Parley API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
<div id="reference"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</html>
`

/** A separate file, so that the page's policy can forbid inline scripts. */
const start = `SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'none' })
`

/** The page's own script sets styles; everything else must come from this server. */
const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"

/** `/api/docs`: an HTML page that shows the API and sends requests to it. */
export function createReferenceRoutes(): Route[] {
  const require = createRequire(import.meta.url)
  const texts = new Map([['start.js', start]])
  const read = (file: string) => {
    const known = texts.get(file) ?? readFileSync(require.resolve(`swagger-ui-dist/${file}`), 'utf8')
    texts.set(file, known)
    return known
  }

  const showPage = route('GET /api/docs', {
    summary: 'Read about the API',
    auth: 'none',
    replies: { 200: z.string() },
    handle: () => reply(200, page, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy }),
  })

  const showFile = route('GET /api/docs/{file}', {
    summary: 'Get a file of that page',
    auth: 'none',
    params: z.object({ file: z.string() }),
    replies: { 200: z.string() },
    problems: [NotFound],
    handle({ params: { file } }) {
      const type = types.get(file)
      if (type === undefined) throw NotFound()
      return reply(200, read(file), {
        'Content-Type': type,
        'Cache-Control': 'public, max-age=3600',
        'X-Content-Type-Options': 'nosniff',
      })
    },
  })

  return [showPage, showFile]
}
