import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'

test('the page about the API is served whole from here, with nothing from anybody else', async () => {
  await using server = await startServer()

  const page = await server.request('GET', '/api/docs')
  const links = Array.from(page.body.matchAll(/(?:href|src)="([^"]+)"/g), (match: RegExpMatchArray) => match[1]!)
  const files = links.filter(link => link !== 'data:,')
  const answers = await Promise.all(files.map(file => server.request('GET', file)))

  expect(page).toMatchObject({ status: 200 })
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'")
  expect(files).toHaveLength(3)
  expect(files.filter(file => !file.startsWith('/api/docs/'))).toEqual([])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(answers.map(({ body }) => body.length).toSorted((a, b) => b - a)[0]).toBeGreaterThan(1_000_000)
})

test('only the files of the page are served', async () => {
  await using server = await startServer()

  for (const file of [
    'package.json',
    '..%2fpackage.json',
    'index.html',
    'swagger-ui.css.map',
    '__proto__',
    'constructor',
  ]) {
    expect(await server.request('GET', `/api/docs/${file}`)).toMatchObject({ status: 404 })
  }
})
