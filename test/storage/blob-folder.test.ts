import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StartFault } from '../../src/lib/errors.ts'
import { markerName, requireFolderOfDatabase } from '../../src/bytes/blob-folder.ts'
import { createDatabase } from '../support/database.ts'
import { createDirectory, launchProgram, programKey, startProgram } from '../support/process.ts'

const markerIn = (folder: string) => readFileSync(join(folder, markerName), 'utf8').trim()

test('nodes that start together on a new database mark one folder once', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()

  await Promise.all(Array.from({ length: 4 }, () => requireFolderOfDatabase(database.sql, dir.path)))

  const [row] = await database.sql`select blob_folder from environment`
  expect(markerIn(dir.path)).toBe(row?.blob_folder)
})

test('nodes that start together with folders of their own: one of them is let in', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()

  const starts = [1, 2, 3].map(i => requireFolderOfDatabase(database.sql, join(dir.path, String(i))))

  const failed = (await Promise.allSettled(starts)).filter(({ status }) => status === 'rejected')
  expect(failed).toHaveLength(2)
})

test('a folder that was moved, with its marker, is still the folder of its database', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  const [before, after] = [join(dir.path, 'before'), join(dir.path, 'after')]
  mkdirSync(before)
  await requireFolderOfDatabase(database.sql, before)
  cpSync(before, after, { recursive: true })
  rmSync(before, { recursive: true })

  await requireFolderOfDatabase(database.sql, after)
})

test('a node that died between marking its folder and telling the database is let in with that folder', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  const id = '4a52a0f6-3f0a-4c8e-9d39-6f7b0f6f8d11'
  writeFileSync(join(dir.path, markerName), `${id}\n`)

  await requireFolderOfDatabase(database.sql, dir.path)

  const [row] = await database.sql`select blob_folder from environment`
  expect(row?.blob_folder).toBe(id)
})

test('a node with another folder than the first does not start, and the way that it says leads out', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory({ name: 'first' })
  await using other = createDirectory({ name: 'second' })
  await using first = await startProgram(dir, { DATABASE_URL: database.url })

  await using second = launchProgram(other, { DATABASE_URL: database.url, API_KEY: programKey })

  expect(await second.ended).toBe(1)
  const marker = join(other.path, 'blobs', markerName)
  expect(second.output()).toContain(`is not the one that this database's uploads are kept in: its marker ${marker}`)
  expect(second.output()).toContain('S3_BUCKET')
  const [, id, path] = /echo (\S+) > (\S+)/.exec(second.output())!
  writeFileSync(path!, `${id}\n`)
  await using third = await startProgram(other, { DATABASE_URL: database.url })
  expect((await third.admin.get('/api/users')).status).toBe((await first.admin.get('/api/users')).status)
})

test('nodes that keep uploads in S3 have no folder to agree on', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory({ name: 'first' })
  await using other = createDirectory({ name: 'second' })
  const s3 = { S3_BUCKET: 'uploads', S3_ENDPOINT: 'http://127.0.0.1:1' }

  await using first = await startProgram(dir, { DATABASE_URL: database.url, ...s3 })
  await using second = await startProgram(other, { DATABASE_URL: database.url, ...s3 })

  expect([await first.admin.get('/api/users'), await second.admin.get('/api/users')].map(a => a.status)).toEqual([
    200, 200,
  ])
})

test('a marker that says something else is shown', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  await requireFolderOfDatabase(database.sql, dir.path)
  writeFileSync(join(dir.path, markerName), 'of another database\n')

  const failure = await requireFolderOfDatabase(database.sql, dir.path).catch((error: Error) => error)

  expect(failure).toBeInstanceOf(StartFault)
  expect((failure as Error).message).toContain('says of another database')
})
