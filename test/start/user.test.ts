import { chmodSync, chownSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSql } from '../../src/postgres/sql.ts'
import { createDirectory, startProgram } from '../support/process.ts'

const isRoot = process.getuid?.() === 0

/** The user `nobody`, by Debian's number. */
const nobody = { uid: 65_534, gid: 65_534 }

test.runIf(isRoot)('as root, PostgreSQL and its files belong to another user', async () => {
  await using dir = createDirectory()

  await using program = await startProgram(dir)

  expect((await program.admin.get('/api/users')).status).toBe(200)
  expect(statSync(join(dir.path, 'postgres')).uid).not.toBe(0)
})

test.runIf(isRoot)(
  'a data directory that others may not see into lets PostgreSQL pass, and nobody see into it',
  async () => {
    await using dir = createDirectory()
    chmodSync(dir.path, 0o700)

    await using program = await startProgram(dir)

    expect((await program.admin.get('/api/users')).status).toBe(200)
    expect(statSync(dir.path).mode & 0o777).toBe(0o711)
  },
)

test.runIf(isRoot)('as anybody else, everything belongs to that user', async () => {
  await using dir = createDirectory()
  chownSync(dir.path, nobody.uid, nobody.gid)

  await using program = await startProgram(dir, {}, nobody)

  expect((await program.admin.get('/api/users')).status).toBe(200)
  expect(statSync(join(dir.path, 'postgres')).uid).toBe(nobody.uid)
})

test.runIf(isRoot)(
  'where root keeps others out, the database lies elsewhere and the data directory leads there',
  async () => {
    await using dir = createDirectory({ isClosed: true })
    const first = await startProgram(dir)
    await first.admin.post('/api/users', { uid: 'ann' })
    first.kill('SIGTERM')
    await first.ended

    await using second = await startProgram(dir)

    expect((await second.admin.get('/api/users/ann')).status).toBe(200)
    expect(lstatSync(join(dir.path, 'postgres')).isSymbolicLink()).toBe(true)
    expect(second.output()).toContain('The database lies outside of the data directory')
  },
)

test('where the path is too long for a Unix socket, a loopback port with a password takes its place', async () => {
  await using dir = createDirectory({ name: 'a'.repeat(100) })

  await using program = await startProgram(dir)

  expect((await program.admin.get('/api/users')).status).toBe(200)
  const port = readFileSync(join(dir.path, 'postgres/postmaster.pid'), 'utf8').split('\n')[3]
  const guess = openSql({
    url: `postgres://parley:guess@127.0.0.1:${port}/postgres`,
    connections: 1,
    statementTimeoutMs: 5000,
  })
  await expect(guess`select 1`).rejects.toThrow('password authentication failed')
  program.kill('SIGTERM')
  expect(await program.ended).toBe(0)
})
