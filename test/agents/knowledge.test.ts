import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { searchPassages } from '../../src/resources/agents/knowledge/search.ts'
import { toSearchTool } from '../../src/resources/agents/knowledge/search-tool.ts'
import { DiskBytes } from '../../src/bytes/bytes-disk.ts'
import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { makeAgent } from '../support/agents.ts'
import type { Body } from '../support/client.ts'
import { createDatabase, dataDirOf } from '../support/database.ts'
import { line, paragraph, writeDocx, writePdf, writeZip } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'
import { startServer, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

let database: Awaited<ReturnType<typeof createDatabase>>
let server: Server
let sql: Sql

beforeAll(async () => {
  database = await createDatabase()
  server = await startServer({ DATABASE_URL: database.url })
  sql = openSql({ url: database.url, connections: 2, statementTimeoutMs: 30_000 })
})

afterAll(async () => {
  await sql.end()
  await server[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

let made = 0

/** An agent with a files app of its own. */
async function startLibrary() {
  const { body: app } = await server.admin.post('/api/apps', { type: 'files', name: 'Library' })
  const agent = await makeAgent(server, { uid: `reader-${++made}`, knowledge: [app.id] })
  const list = async (): Promise<Body[]> => (await server.admin.get(`/api/agents/${agent}/knowledge`)).body.data ?? []
  const addBlob = async (id: string): Promise<string> => {
    const { status, body } = await server.admin.post(`/api/apps/${app.id}/files`, { blob_id: id })
    expect(status).toBe(201)
    return body.id
  }
  return {
    agent,
    app: app.id as string,
    list,
    async add(name: string, content: string | Uint8Array): Promise<string> {
      return addBlob((await upload(server.admin, { name, content })).body.id)
    },
    /** A file whose bytes were lost on the disk. */
    async addWithoutBytes(name: string, content: string): Promise<string> {
      const { body: blob } = await upload(server.admin, { name, content })
      const rows = await sql<{ key: string }[]>`select key from blobs where id = ${blob.id}`
      await new DiskBytes(join(dataDirOf(database.url), 'blobs')).remove(rows.map(({ key }) => key))
      return addBlob(blob.id)
    },
    /** Waits until nothing is left to be read and `count` files are known. */
    settled: (count: number) =>
      eventually(
        async () => {
          const files = await list()
          expect([files.length, files.filter(({ state }) => state === 'pending')]).toEqual([count, []])
          return files
        },
        { timeoutMs: 30_000, everyMs: 100 },
      ),
    async search(query: string) {
      const passages = await searchPassages(sql, Number(agent), query)
      return passages.map(({ name, place, text }) => ({ name, place, text }))
    },
  }
}

test('files are found by what is in them, with where it stands, as soon as they were read', async () => {
  const library = await startLibrary()
  await library.add('handbook.pdf', writePdf({ pages: [line('Welcome'), line('Parental leave takes 14 weeks')] }))
  await library.add('lunch.txt', 'What is the best lunch? It is what is on the table, and it is the soup.')
  await library.add('picture.png', 'no text')
  await library.add('broken.pdf', 'no PDF')

  const files = await library.settled(4)

  expect(files.map(({ file, state, reason, passages }) => [file.name, state, reason, passages])).toEqual([
    ['handbook.pdf', 'indexed', undefined, '2'],
    ['lunch.txt', 'indexed', undefined, '1'],
    ['picture.png', 'skipped', 'It has a format that cannot be read.', '0'],
    ['broken.pdf', 'failed', 'It is no PDF.', '0'],
  ])
  expect((await library.search('What is the leave for parents? How many weeks is it?'))[0]).toEqual({
    name: 'handbook.pdf',
    place: 'page 2',
    text: 'Parental leave takes 14 weeks',
  })
  expect(await library.search('zebra')).toEqual([])
  expect(await library.search('?!')).toEqual([])
})

test('a file counts by its name as well, whatever its case and accents, and scripts without spaces are searched by pairs', async () => {
  const library = await startLibrary()
  await library.add('Café prices.txt', 'Tea 3, cake 4')
  await library.add('tea.txt', 'Some tea')
  await library.add('weather.txt', '今日の天気は晴れです')
  await library.settled(3)

  expect((await library.search('CAFE')).map(({ name }) => name)).toEqual(['Café prices.txt'])
  expect((await library.search('天気')).map(({ name }) => name)).toEqual(['weather.txt'])
})

test('new content replaces what was found, a name alone does not, and the trash holds nothing', async () => {
  const library = await startLibrary()
  const file = await library.add('plan.txt', 'alpha')
  await library.settled(1)

  await server.admin.patch(`/api/files/${file}`, { name: 'new plan.txt' })
  const renamed = await library.search('alpha')
  const { body: blob } = await upload(server.admin, { name: 'plan.txt', content: 'beta' })
  const patched = await server.admin.patch(`/api/files/${file}`, { blob_id: blob.id })
  expect(patched.status).toBe(200)
  await eventually(async () => expect(await library.search('beta')).toHaveLength(1), { timeoutMs: 20_000 })
  const before = await library.search('alpha')
  await server.admin.post(`/api/files/${file}/trash`)
  const trashed = await library.search('beta')
  await library.settled(0)
  await server.admin.post(`/api/files/${file}/restore`)
  await library.settled(1)

  expect(renamed).toEqual([{ name: 'new plan.txt', place: null, text: 'alpha' }])
  expect([before, trashed]).toEqual([[], []])
  expect(await library.search('beta')).toHaveLength(1)
})

test('an agent finds nothing of what others search', async () => {
  const [one, other] = [await startLibrary(), await startLibrary()]
  await one.add('secret.txt', 'gamma')
  await one.settled(1)

  expect(await one.search('gamma')).toHaveLength(1)
  expect(await other.search('gamma')).toEqual([])
})

test('of one file at most two passages are given, of all at most eight', async () => {
  const library = await startLibrary()
  const text = Array.from({ length: 40 }, (_, n) => `Paragraph ${n} about delta. ${'word '.repeat(100)}`).join('\n\n')
  for (let n = 0; n < 6; n++) await library.add(`long ${n}.txt`, text)
  await library.settled(6)

  const found = await library.search('delta')

  expect(found.length).toBeLessThanOrEqual(8)
  for (const { name } of found) expect(found.filter(one => one.name === name).length).toBeLessThanOrEqual(2)
  for (const one of found) expect(one.text.length).toBeLessThanOrEqual(3_000)
})

test('files that mean harm fail alone, or are read as far as they are text, and those after them are read', async () => {
  const library = await startLibrary()
  const bomb = writeZip({ 'word/document.xml': Buffer.alloc(201 * 1024 * 1024) })
  const document = writeDocx(paragraph('epsilon'))
  const files: Record<string, string | Uint8Array> = {
    'bomb.docx': bomb,
    'half.docx': document.subarray(0, document.length / 2),
    'half.pdf': writePdf({ pages: [line('epsilon')] }).subarray(0, 300),
    'nul.docx': writeDocx(paragraph('one\0epsilon &#0; &#xD800; two')),
    'nul.pdf': writePdf({ pages: [line(String.raw`one\000epsilon`)] }),
    'nul.html': 'one\0epsilon<p>&#0;</p>',
    'long word.txt': `epsilon ${'x'.repeat(5_000_000)}`,
    'many words.txt': `epsilon ${'a1 '.repeat(5_000_000)}`,
    'script.html': '<script>zeta()</script><style>zeta</style><p>epsilon</p>',
    'too large.txt': 'epsilon '.repeat(2_700_000),
    'last.txt': 'epsilon is here',
  }
  for (const [name, content] of Object.entries(files)) await library.add(name, content)

  const known = await library.settled(Object.keys(files).length)

  const states = Object.fromEntries(known.map(({ file, state, reason }) => [file.name, reason ?? state]))
  expect(states).toMatchObject({
    'bomb.docx': 'It unpacks to more than 200 MiB.',
    'too large.txt': 'It is larger than 20 MiB.',
    'last.txt': 'indexed',
    'script.html': 'indexed',
    'long word.txt': 'indexed',
    'many words.txt': 'indexed',
  })
  expect(known.filter(({ state, reason }) => state === 'failed' && reason === undefined)).toEqual([])
  for (const { passages } of known) expect(Number(passages)).toBeLessThanOrEqual(2_000)
  expect((await library.search('epsilon')).map(({ name }) => name)).toContain('last.txt')
  expect(await library.search('zeta')).toEqual([])
}, 120_000)

test('what cannot be read costs nothing else, and a search says what it could not look into', async () => {
  const library = await startLibrary()
  const lost = await library.addWithoutBytes('lost.txt', 'omega')
  await library.add('half.pdf', writePdf({ pages: [line('omega')] }).subarray(0, 300))
  await library.add('half.docx', writeDocx(paragraph('omega')).subarray(0, 100))
  await library.add('picture.png', 'no text')
  const trashed = await library.add('trashed.txt', 'omega')
  await server.admin.post(`/api/files/${trashed}/trash`)
  await library.add('whole.txt', 'omega is here')

  const known = await library.settled(5)
  const tool = toSearchTool(sql, Number(library.agent))
  const context = { run: '1', step: 1, passages: 0, signal: new AbortController().signal }
  const [found, nothing] = [await tool.call({ query: 'omega' }, context), await tool.call({ query: 'zeta' }, context)]

  const reasons = Object.fromEntries(known.map(({ file, state, reason }) => [file.name, reason ?? state]))
  expect(reasons).toMatchObject({ 'lost.txt': 'Its content is missing.', 'whole.txt': 'indexed' })
  const unread = `Not searched: ${['lost.txt', 'half.pdf', 'half.docx'].map(name => `${name} (${reasons[name]})`).join(', ')}`
  expect(found).toMatchObject({
    text: `[1] whole.txt\nomega is here\n\n${unread}`,
    passages: [{ file: expect.anything() }],
  })
  expect(nothing.text).toBe(`Nothing was found.\n\n${unread}`)

  await server.admin.delete(`/api/files/${lost}`)
  await library.settled(4)
  expect((await tool.call({ query: 'zeta' }, context)).text).not.toContain('lost.txt')
})
