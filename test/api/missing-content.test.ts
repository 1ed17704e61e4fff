import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import sharp from 'sharp'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, startProgram } from '../support/process.ts'
import { upload } from '../support/uploads.ts'

/** A program with a file of Ann's, and what takes its bytes away. */
async function startWithFile(name: string, content: string | Uint8Array, type: string) {
  const database = await createDatabase()
  const dir = createDirectory()
  const program = await startProgram(dir, { DATABASE_URL: database.url })
  const { body: app } = await program.admin.post('/api/apps', { type: 'files', name: 'Plans' })
  const { body: blob } = await upload(program.admin, { name, content, type })
  const { body: file } = await program.admin.post(`/api/apps/${app.id}/files`, { blob_id: blob.id })
  const folder = join(dir.path, 'blobs')
  const pathOf = (key: string) => join(folder, key.slice(0, 2), key.slice(2, 4), key)
  const [row] = await database.sql<[{ key: string }]>`select key from blobs`
  return {
    ...program,
    app,
    file,
    sql: database.sql,
    path: pathOf(row.key),
    async [Symbol.asyncDispose]() {
      for (const part of [program, dir, database]) await part[Symbol.asyncDispose]()
    },
  }
}

test('a file whose bytes are missing is a fault that is logged, and no 404', async () => {
  await using program = await startWithFile('plan.md', '# Walnuts', 'text/markdown')
  rmSync(program.path)

  const answers = [await fetch(program.file.download_url), await fetch(program.file.preview_url)]

  for (const answer of answers) {
    const body = (await answer.json()) as Record<string, unknown>
    expect(body).toMatchObject({ status: 500, code: 'content-missing', trace_id: expect.any(String) })
    expect(program.output()).toContain(`"trace_id":"${String(body.trace_id)}"`)
  }
  expect(program.output()).toMatch(/"level":"error".*The bytes of blob \d+ are missing under their key/)
})

test('a picture whose bytes are missing is that fault too, and is shown when they are put back', async () => {
  const png = await sharp({ create: { width: 900, height: 900, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  await using program = await startWithFile('plan.png', png, 'image/png')
  renameSync(program.path, `${program.path}-aside`)
  expect((await fetch(program.file.thumbnail_url)).status).toBe(500)

  renameSync(`${program.path}-aside`, program.path)

  expect((await fetch(program.file.thumbnail_url)).status).toBe(200)
})

test('an archive that lacks a file is cut, and the log says which bytes are missing', async () => {
  await using program = await startWithFile('plan.txt', 'Walnuts', 'text/plain')
  const { body: app } = await program.admin.get(`/api/apps/${program.app.id}`)
  rmSync(program.path)

  const reading = fetch(app.archive_url).then(answer => answer.arrayBuffer())

  await expect(reading).rejects.toThrow()
  await eventually(() =>
    expect(program.output()).toMatch(/"level":"error".*The bytes of a file are missing.*A download was cut/),
  )
})

test('a file that was deleted while its link was opened is not there', async () => {
  await using program = await startWithFile('plan.txt', 'Walnuts', 'text/plain')
  rmSync(program.path)
  await program.sql`update blobs set key = null`

  expect((await fetch(program.file.download_url)).status).toBe(404)
})

test('what is not of this server in the folder of uploads harms nothing', async () => {
  await using program = await startWithFile('plan.txt', 'Walnuts', 'text/plain')
  const folder = join(program.path, '../../..')
  writeFileSync(join(folder, 'README'), 'for the backup')

  expect((await fetch(program.file.download_url)).status).toBe(200)
  expect(readdirSync(folder)).toContain('README')
})
