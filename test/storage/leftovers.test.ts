import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chores as blobChores } from '../../src/resources/blobs/chores.ts'
import { DiskBytes } from '../../src/storage/bytes-disk.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const { signal } = new AbortController()
const daysAhead = (days: number) => () => new Date(Date.now() + days * 24 * 3_600_000)

test('blobs that nothing uses go after a week, with their bytes; used ones stay', async () => {
  await using database = await createDatabase()
  using folder = temporaryFolder()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url, DATA_DIR: folder.path })
  const bytes = new DiskBytes(join(folder.path, 'blobs'))
  const { body: app } = await server.admin.post('/api/apps', { type: 'files' })
  const { body: used } = await upload(server.admin, { name: 'used.txt', content: 'x' })
  const { body: idle } = await upload(server.admin, { name: 'idle.txt', content: 'y' })
  await server.admin.post(`/api/apps/${app.id}/files`, { blob_id: used.id })
  const [row] = await sql<{ key: string }[]>`select key from blobs where id = ${idle.id}`

  for (const { run } of blobChores({ sql, bytes, now: daysAhead(6) })) await run(signal)
  const early = await sql`select id from blobs`
  for (const { run } of blobChores({ sql, bytes, now: daysAhead(8) })) await run(signal)

  expect(early).toHaveLength(2)
  expect(await sql`select id from blobs`).toMatchObject([{ id: Number(used.id) }])
  expect(await bytes.sizeOf(row!.key)).toBeNull()
  expect(await sql`select * from loose_bytes`).toHaveLength(0)
})

function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'parley-leftovers-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
