import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { startServer } from '../support/server.ts'

/** Everything that a page names of this server. */
const linksOf = (html: string) =>
  Array.from(html.matchAll(/(?:href|src|action)="([^"]+)"/g), (match: RegExpMatchArray) => match[1]!)

test('the first page says what runs here, in which version, and where to go', async () => {
  await using server = await startServer({ DEMO_URL: 'http://localhost:8081' })

  const page = await server.request('GET', '/')

  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.body).toContain('Parley 0.9.0 · API 32.1.0')
  expect(linksOf(page.body)).toEqual(
    expect.arrayContaining(['http://localhost:8081', '/docs', '/api/docs', '/admin', '/favicon.svg']),
  )
  expect(page.body.length).toBeLessThan(12_000)
})

test('the first page leads to no demo and no administration where there are none', async () => {
  await using server = await startServer({ ADMIN: 'false' })

  const { body } = await server.request('GET', '/')

  expect(linksOf(body)).not.toContain('/admin')
  expect(body).not.toContain('Demo')
})

test('pages load nothing from elsewhere, only the reference has a script, and every link within the server leads somewhere', async () => {
  await using server = await startServer()
  const seen = new Map<string, number>()
  const waiting = ['/', '/favicon.ico']

  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue
    const { status, headers, body } = await server.request('GET', path)
    seen.set(path, status)
    if (!headers.get('content-type')?.startsWith('text/html') || path.startsWith('/admin')) continue
    const policy = headers.get('content-security-policy')!
    const isReference = path.startsWith('/api/docs/') && path !== '/api/docs/shapes'
    const script = /<script type="module">([^]*?)<\/script>/.exec(body)?.[1]
    const hash = createHash('sha256')
      .update(script ?? '')
      .digest('base64')
    expect([path, policy]).toEqual([path, expect.stringMatching(/^default-src 'none'; style-src 'sha256-/)])
    expect([path, policy.split('; ').slice(-2)]).toEqual([
      path,
      isReference
        ? [`script-src 'sha256-${hash}'`, "connect-src 'self'"]
        : ["frame-ancestors 'none'", "base-uri 'none'"],
    ])
    expect([path, body.split('<script').length]).toEqual([path, isReference ? 2 : 1])
    expect([path, body]).toEqual([path, expect.not.stringMatching(/<link [^>]*http|src="http| style="| on\w+="/)])
    const targets = linksOf(body).filter(link => link.startsWith('/') && !link.startsWith('/api/openapi'))
    waiting.push(...targets.map(link => link.split('#')[0]!))
  }

  expect([...seen].filter(([, status]) => status !== 200)).toEqual([])
  expect(seen.size).toBeGreaterThan(50)
}, 60_000)

test('every link to a part of a page finds it', async () => {
  await using server = await startServer()
  const pages = ['/docs', '/docs/concepts', '/docs/permissions', '/docs/operations', '/api/docs', '/api/docs/messages']
  const text = new Map<string, string>()
  const load = async (path: string) => {
    text.set(path, text.get(path) ?? (await server.request('GET', path)).body)
    return text.get(path)!
  }

  for (const path of pages) {
    for (const link of linksOf(await load(path)).filter(target => /^(?:\/docs|\/api\/docs)?.*#/.test(target))) {
      const [target = '', anchor = ''] = link.split('#')
      const there = await load(target === '' ? path : target)
      expect([path, link, there.includes(`id="${anchor}"`)]).toEqual([path, link, true])
    }
  }
}, 60_000)

test('only pages and files that there are are served', async () => {
  await using server = await startServer()

  for (const path of [
    '/docs/nothing',
    '/docs/..%2fpackage',
    '/docs/__proto__',
    '/docs/constructor',
    '/docs/images/..%2f..%2fpackage.json',
    '/docs/images/nothing.svg',
    '/api/docs/nothing',
    '/api/docs/constructor',
  ]) {
    expect([path, (await server.request('GET', path)).status]).toEqual([path, 404])
  }
})

test('the search finds guides and operations, and shows what was typed as text', async () => {
  await using server = await startServer()

  const [found, none, hostile] = await Promise.all(
    ['restore backup', 'zebra xylophone', '<img src=x onerror=alert(1)> a(b'].map(
      async q => (await server.request('GET', `/docs?q=${encodeURIComponent(q)}`)).body as string,
    ),
  )

  expect(found).toContain('href="/docs/operations#backup-and-restore"')
  expect(none).toContain('Nothing was found')
  expect(hostile).not.toContain('<img src=x')
  expect((await server.request('GET', '/docs?q=typing')).body).toContain('href="/api/docs/apps#')
})

test('each operation stands on the page of its tag, tags have texts, and none is without operations', async () => {
  await using server = await startServer()
  const { body: description }: { body: Body } = await server.request('GET', '/api/openapi.json')

  const operations: Body[] = Object.values(description.paths).flatMap((methods: Body) => Object.values(methods))
  const used = new Set(operations.flatMap(({ tags }) => tags))
  expect([...used].toSorted()).toEqual(description.tags.map((tag: Body) => tag.name).toSorted())
  for (const { name, description: text } of description.tags) {
    const { body: page } = await server.request('GET', `/api/docs/${name}`)
    expect(text.length).toBeGreaterThan(20)
    for (const { operationId, tags } of operations) if (tags[0] === name) expect(page).toContain(`id="${operationId}"`)
  }
})

test('the description has at most 500 KB', async () => {
  await using server = await startServer()

  const { body } = await server.request('GET', '/api/openapi.json')

  expect(JSON.stringify(body).length).toBeLessThanOrEqual(500 * 1024)
})
