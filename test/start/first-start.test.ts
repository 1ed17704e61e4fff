import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { productVersion } from '../../src/config/product-version.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, launchProgram, startProgram } from '../support/process.ts'

test('a fresh directory is ready within ten seconds, and prints a key that works, and where to sign in with it', async () => {
  await using dir = createDirectory()
  const startedAt = Date.now()

  await using program = await startProgram(dir, { API_KEY: '' })

  expect(Date.now() - startedAt).toBeLessThan(10_000)
  expect(program.output()).toContain(`Parley ${productVersion} listens on ${program.url}`)
  const [key] = /^wys_[\w-]{43}$/m.exec(program.output()) ?? []
  expect(program.output()).toContain(`curl ${program.url}/api/users -H 'Authorization: Bearer ${key}'`)
  const answer = await client(program.url, key).get('/api/users')
  expect(answer.status).toBe(200)
  expect(program.output()).toContain(`\n${program.url}/admin\n`)
  expect(await (await fetch(`${program.url}/admin`)).text()).toContain('<title>Parley administration</title>')
})

test('what the database confirms outlives a power cut, and its log does not grow for ever', async () => {
  await using dir = createDirectory()
  const log = join(dir.path, 'postgres.log')
  writeFileSync(log, 'said before\n'.repeat(1_000_000))

  await using _ = await startProgram(dir)

  const host = encodeURIComponent(join(dir.path, 'postgres'))
  const sql = openSql({ url: `postgres://parley@${host}/postgres`, connections: 1, statementTimeoutMs: 5_000 })
  const settings = await sql`
    select setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')`
  await sql.end()
  expect(settings).toEqual(Array.from({ length: 3 }, () => ({ setting: 'on' })))
  expect(readFileSync(log, 'utf8')).not.toContain('said before')
})

test('a restart keeps what was written and prints no key', async () => {
  await using dir = createDirectory()
  const first = await startProgram(dir, { API_KEY: '' })
  const [key] = /^wys_.+$/m.exec(first.output()) ?? []
  await client(first.url, key).post('/api/users', { uid: 'ann', name: 'Ann' })
  first.kill('SIGTERM')
  expect(await first.ended).toBe(0)

  await using second = await startProgram(dir, { API_KEY: '' })

  expect(second.output()).not.toContain('wys_')
  const answer = await client(second.url, key).get('/api/users/ann')
  expect(answer.body).toMatchObject({ uid: 'ann', name: 'Ann' })
})

test('a key from the configuration is valid beside those that are known', async () => {
  await using dir = createDirectory()
  const one = 'wys_the-key-of-the-first-configuration'
  const other = 'wys_the-key-of-the-second-configuration'
  const first = await startProgram(dir, { API_KEY: one })
  expect(first.output()).not.toContain('wys_')
  first.kill('SIGTERM')
  await first.ended

  await using second = await startProgram(dir, { API_KEY: other })

  expect((await client(second.url, one).get('/api/users')).status).toBe(200)
  expect((await client(second.url, other).get('/api/users')).status).toBe(200)
  expect((await client(second.url, `${other}x`).get('/api/users')).status).toBe(401)
})

test('a start may revoke all keys but the configured one, on nodes that are running too, and for good', async () => {
  await using database = await createDatabase()
  const lost = 'wys_the-key-that-somebody-else-has-got'
  const kept = 'wys_the-key-that-is-to-take-its-place'
  const url = { DATABASE_URL: database.url }
  await using dir = createDirectory()
  await using first = await startProgram(dir, { ...url, API_KEY: lost })
  expect((await client(first.url, lost).get('/api/users')).status).toBe(200)

  await using second = await startProgram(dir, { ...url, API_KEY: kept, API_KEY_ONLY: 'true' })

  expect((await client(second.url, lost).get('/api/users')).status).toBe(401)
  await eventually(async () => expect((await client(first.url, lost).get('/api/users')).status).toBe(401))
  for (const node of [first, second]) expect((await client(node.url, kept).get('/api/users')).status).toBe(200)
  await using third = launchProgram(dir, { ...url, API_KEY: lost })
  expect(await third.ended).toBe(1)
  expect(third.output()).toContain('The key of API_KEY was revoked. Choose another one.')
})

test('a second start on the same directory is refused, says why, and harms nobody', async () => {
  await using dir = createDirectory()
  await using first = await startProgram(dir)

  await using second = launchProgram(dir, {})

  expect(await second.ended).toBe(1)
  expect(second.output()).toContain(`The data directory ${dir.path} is in use by another Parley process.`)
  expect((await first.admin.get('/api/users')).status).toBe(200)
})
