import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createDirectory, programKey, startProgram } from '../support/process.ts'

const root = join(import.meta.dirname, '../..')

test('a request that is under way when the node is told to stop is answered, and its write is kept', async () => {
  await using dir = createDirectory()
  const program = await startProgram(dir)
  const request = await beginRequest(program.url, '{"uid":"ann"}')

  program.kill('SIGTERM')
  await eventually(() => expect(fetch(`${program.url}/version`)).rejects.toThrow())
  request.finish()

  expect(await request.answer).toMatch(/^HTTP\/1.1 201 /)
  expect(await program.ended).toBe(0)
  await using again = await startProgram(dir)
  expect((await again.admin.get('/api/users/ann')).status).toBe(200)
})

test('a request that never ends does not keep the node from stopping in time', async () => {
  await using dir = createDirectory()
  await using program = await startProgram(dir, { DRAIN_SECONDS: '2' })
  await beginRequest(program.url, '{"uid":"ann"}')
  const stoppedAt = Date.now()

  program.kill('SIGTERM')

  expect(await program.ended).toBe(0)
  expect(Date.now() - stoppedAt).toBeLessThan(3000)
})

test('SIGINT stops like SIGTERM, and leaves no PostgreSQL behind', async () => {
  await using dir = createDirectory()
  await using program = await startProgram(dir)

  program.kill('SIGINT')

  expect(await program.ended).toBe(0)
  await using again = await startProgram(dir)
  expect(again.output()).not.toContain('still running from an earlier start')
})

test('Ctrl-C reaches all that a terminal runs, and still requests that are under way are answered', async () => {
  await using dir = createDirectory()
  await using program = await startProgram(dir, {}, { detached: true })
  const request = await beginRequest(program.url, '{"uid":"ann"}')

  process.kill(-program.pid, 'SIGINT')
  await eventually(() => expect(fetch(`${program.url}/version`)).rejects.toThrow())
  request.finish()

  expect(await request.answer).toMatch(/^HTTP\/1.1 201 /)
  expect(await program.ended).toBe(0)
})

test('a node whose terminal was closed stops like that too', async () => {
  await using dir = createDirectory()
  await using program = await startProgram(dir)

  program.deafen()
  program.kill('SIGHUP')

  expect(await program.ended).toBe(0)
  await using again = await startProgram(dir)
  expect(again.output()).not.toContain('still running from an earlier start')
})

test('a node that npm started stops when npm alone is told to', async () => {
  await using dir = createDirectory()
  await using database = await createDatabase()
  const settings = { DATABASE_URL: database.url, npm_config_update_notifier: 'false' }
  await using npm = await startProgram(dir, settings, { command: ['npm', 'start'], cwd: root })

  npm.kill('SIGTERM')

  await eventually(() => expect(npm.output()).toContain('The node has stopped'))
  expect(await npm.ended).toBe(0)
})

test('a second signal ends the node at once', async () => {
  await using dir = createDirectory()
  await using program = await startProgram(dir, { DRAIN_SECONDS: '600' })
  await beginRequest(program.url, '{"uid":"ann"}')
  let code: unknown = null
  void program.ended.then(end => (code = end))

  await eventually(
    () => {
      program.kill('SIGTERM')
      expect(code).not.toBeNull()
    },
    { timeoutMs: 20_000 },
  )

  expect(code).toBe(1)
})

test('a node that stops waits for what it does in the background, and has nothing to complain of', async () => {
  await using dir = createDirectory()
  await using database = await createDatabase()
  const keys = Buffer.alloc(32, 1).toString('base64')
  const program = await startProgram(dir, { DATABASE_URL: database.url, SECRET_KEYS: keys })
  const blocker = await database.sql.reserve()
  await blocker`begin`
  await blocker`lock table environment`
  // The look for news of other nodes begins with this table, and goes on to another one.
  await eventually(() => expectWaiting(database.sql, 1), { timeoutMs: 10_000 })

  program.kill('SIGTERM')
  await eventually(() => expect(program.output()).toContain('The node stops'))
  await eventually(() => expect(fetch(`${program.url}/version`)).rejects.toThrow())
  await blocker`commit`
  blocker.release()

  expect(await program.ended).toBe(0)
  expect(program.output()).not.toMatch(/"level":"(warn|error)"/)
})

async function expectWaiting(sql: Sql, least: number): Promise<void> {
  const rows = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  expect(rows.length).toBeGreaterThanOrEqual(least)
}

/** Sends a POST /api/users but for the end of its body, on a connection of its own. */
async function beginRequest(url: string, body: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const answer = new Promise<string>((resolve, reject) => {
    let text = ''
    socket.on('data', chunk => (text += chunk.toString()))
    socket.once('close', () => resolve(text))
    socket.once('error', reject)
  })
  // Where the node cuts the connection, that is its answer.
  answer.catch(() => {})
  await new Promise(resolve => socket.once('connect', resolve))
  const head = ['POST /api/users HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${programKey}`]
  const about = ['Content-Type: application/json', `Content-Length: ${body.length}`, '', '']
  await new Promise(resolve => socket.write([...head, ...about].join('\r\n') + body.slice(0, -1), resolve))
  return { answer, finish: () => socket.write(body.slice(-1)) }
}
