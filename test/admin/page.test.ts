import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'
import { rawGet } from '../support/raw-get.ts'

const mostBytes = 150_000

test('every address of a view answers the page; names of files, and what is mistyped of the API, do not', async () => {
  await using server = await startServer()
  const statusOf = async (path: string) => (await fetch(`${server.url}${path}`)).status

  for (const path of ['/admin', '/admin/', '/admin/users', '/admin/users/17', '/admin/agents/17/runs'])
    expect([path, await statusOf(path)]).toEqual([path, 200])
  for (const path of [
    '/admin/page.js',
    '/admin/assets/none.js',
    '/admin/assets',
    '/admin/api',
    '/admin/a/b/c/d',
    '/administration',
  ])
    expect([path, await statusOf(path)]).toEqual([path, 404])
})

test('the page loads nothing from other hosts, and has no script or style of its own', async () => {
  await using server = await startServer()

  const response = await fetch(`${server.url}/admin`)

  const text = await response.text()
  expect(text).not.toMatch(/https?:|<style|style=|<script(?![^>]* src=)| on\w+=/)
  expect(response.headers.get('content-security-policy')).toContain(
    "default-src 'none'; script-src 'self'; style-src 'self'",
  )
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('access-control-allow-origin')).toBeNull()
})

test('what the page loads is beside it, wherever a proxy serves it', async () => {
  await using server = await startServer()
  const sourceAt = async (path: string) => {
    const [, source] = / src="([^"]+)"/.exec(await (await fetch(`${server.url}${path}`)).text())!
    return new URL(source!, `https://chat.example/parley${path}`).pathname
  }

  for (const path of ['/admin', '/admin/', '/admin/users', '/admin/users/17', '/admin/agents/17/runs'])
    expect([path, await sourceAt(path)]).toEqual([path, '/parley/admin/assets/main.js'])
})

test('its script is small, comes in the codings that a browser takes, and not again where the browser has it', async () => {
  await using server = await startServer()
  const load = (headers: Record<string, string>) => rawGet(`${server.url}/admin/assets/main.js`, headers)

  const [plain, brotli, gzip] = [
    await load({}),
    await load({ 'accept-encoding': 'gzip, br' }),
    await load({ 'accept-encoding': 'gzip' }),
  ]

  expect(brotli.headers['content-encoding']).toBe('br')
  expect(brotliDecompressSync(brotli.body)).toEqual(plain.body)
  expect(gunzipSync(gzip.body)).toEqual(plain.body)
  expect(gzip.body.length).toBeLessThan(mostBytes)
  expect(new Set([plain, brotli, gzip].map(({ headers }) => headers.etag)).size).toBe(3)
  const again = await load({ 'accept-encoding': 'br', 'if-none-match': brotli.headers.etag! })
  expect([again.status, again.body.length]).toEqual([304, 0])
  expect((await load({ 'accept-encoding': 'br;q=0' })).headers['content-encoding']).toBeUndefined()
})

test('with ADMIN=false there is no page', async () => {
  await using server = await startServer({ ADMIN: 'false' })

  for (const path of ['/admin', '/admin/users', '/admin/assets/main.js'])
    expect([path, (await fetch(`${server.url}${path}`)).status]).toEqual([path, 404])
})

test('with a port of its own the page is there alone', async () => {
  await using server = await startServer({ ADMIN_PORT: '0' })

  const own = new URL(server.adminUrl!)

  expect(own.port).not.toBe(new URL(server.url).port)
  expect((await fetch(own)).status).toBe(200)
  expect((await fetch(`${server.url}/admin`)).status).toBe(404)
})
