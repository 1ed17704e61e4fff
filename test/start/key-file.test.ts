import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { keyFileOf } from '../../src/lib/data/key-file.ts'
import { runAdmin } from '../support/admin.ts'
import { createDatabase } from '../support/database.ts'
import { createDirectory, launchProgram, startProgram, type ReadyProgram } from '../support/process.ts'
import { startServer } from '../support/server.ts'

const keys = [1, 2].map(fill => Buffer.alloc(32, fill).toString('base64')) as [string, string]
const webhook = { payload_url: 'http://127.0.0.1:1/', triggers: ['messages'], secret: 'in-clear' }

// A start, a restart, a backup, a restore and two starts of the copy, each with a PostgreSQL of its own.
test(
  'a first start makes a key, says where once, and warns of nothing; backup and restore say that it is to go along',
  { timeout: 180_000 },
  async () => {
    await using dir = createDirectory()
    await using elsewhere = createDirectory()
    const path = keyFileOf(dir.path)
    const copied = keyFileOf(elsewhere.path)
    const file = join(elsewhere.path, 'parley.tar')

    const first = await startProgram(dir)
    const made = readFileSync(path, 'utf8')
    await stop(first)
    expect(said(first)).toEqual([expect.stringContaining(path)])
    expect(first.output()).not.toMatch(/SECRET_KEYS|"level":"warn"/)
    expect(statSync(path).mode & 0o777).toBe(0o600)

    const second = await startProgram(dir)
    expect(said(second)).toEqual([])
    expect(readFileSync(path, 'utf8')).toBe(made)
    await second.admin.post('/api/webhooks', webhook)
    const backup = await runAdmin(dir, {}, 'backup', file)
    expect(backup.code).toBe(0)
    expect(backup.output).toContain(`sealed with the key in ${path}`)
    expect(readFileSync(file, 'latin1')).not.toMatch(/in-clear/)
    await stop(second)

    const restore = await runAdmin(elsewhere, {}, 'restore', file)
    expect(restore.code).toBe(0)
    expect(restore.output).toContain(copied)
    await using refused = launchProgram(elsewhere, {})
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toMatch(/^SECRET_KEYS lacks keys that secret of webhooks are sealed with/m)
    expect(refused.output()).toContain(copied)
    expect(existsSync(copied)).toBe(false)
    copyFileSync(path, copied)
    await using copy = await startProgram(elsewhere)
    expect((await copy.admin.post('/api/webhooks/1/rotate')).status).toBe(200)
  },
)

test('a key file makes place for SECRET_KEYS: what it sealed is opened, and sealed anew', async () => {
  await using dir = createDirectory()
  const first = await startProgram(dir)
  await first.admin.post('/api/webhooks', webhook)
  await stop(first)

  const second = await startProgram(dir, { SECRET_KEYS: keys[0] })

  expect((await second.admin.get('/api/webhooks/1')).status).toBe(200)
  await stop(second)
})

test('of many processes that make a key file at once one does, and all have its key', async () => {
  await using dir = createDirectory()
  const path = join(dir.path, 'new')
  const script = `
    const { makeKeyFile } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/lib/data/key-file.ts'))})
    process.stdout.write(makeKeyFile(${JSON.stringify(path)})[0].reveal())`
  const make = () => promisify(execFile)(process.execPath, ['--no-warnings', '--input-type=module', '-e', script])

  const made = await Promise.all(Array.from({ length: 8 }, make))

  expect(new Set(made.map(({ stdout }) => stdout))).toEqual(new Set([readFileSync(keyFileOf(path), 'utf8').trim()]))
  expect(readdirSync(path)).toEqual(['secret.key'])
})

test.each(['', 'abc', `${keys[0]}\nnot a key`])('a key file with %j is none, and says what to do', async text => {
  await using dir = createDirectory()
  writeFileSync(keyFileOf(dir.path), text)

  await using program = launchProgram(dir, {})

  expect(await program.ended).toBe(1)
  expect(program.output()).toContain(`${keyFileOf(dir.path)} is to hold keys of 32 bytes`)
})

test('on a database that nodes share no key file is made, and the warning waits for a secret', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  const url = { DATABASE_URL: database.url }

  const first = await startProgram(dir, url)
  expect(await first.admin.get('/api/admin/settings').then(warnings)).toEqual([])
  await first.admin.post('/api/webhooks', webhook)
  expect(await first.admin.get('/api/admin/settings').then(warnings)).toEqual(['SECRET_KEYS'])
  await stop(first)
  const second = await startProgram(dir, url)
  await stop(second)

  expect(existsSync(keyFileOf(dir.path))).toBe(false)
  expect(first.output()).not.toContain('SECRET_KEYS')
  expect(second.output()).toContain('stored in clear: SECRET_KEYS is not set')
})

test('nodes of one database seal with one key: another one, or none, is refused before anything is sealed', async () => {
  await using database = await createDatabase()
  const start = (settings: Record<string, string>) => startServer({ DATABASE_URL: database.url, ...settings })
  await using _ = await start({ SECRET_KEYS: keys[0] })

  await expect(start({ SECRET_KEYS: keys[1] })).rejects.toThrow('which other nodes of this database seal secrets with')
  await expect(start({})).rejects.toThrow('which other nodes of this database seal secrets with')

  // The two steps of a change of keys.
  await using changing = await start({ SECRET_KEYS: `${keys[1]},${keys[0]}` })
  await using changed = await start({ SECRET_KEYS: keys[1] })
  expect(new Set([changing.url, changed.url]).size).toBe(2)
})

interface Settings {
  body: { name: string; warning?: string }[]
}

function warnings({ body }: Settings): string[] {
  return body.filter(({ warning }) => warning !== undefined).map(({ name }) => name)
}

const said = (program: ReadyProgram) => program.output().match(/.*sealed with a new key.*/g) ?? []

async function stop(program: ReadyProgram): Promise<void> {
  program.kill('SIGTERM')
  expect(await program.ended).toBe(0)
}
