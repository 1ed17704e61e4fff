import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { listOwnMigrations } from '../../src/postgres/migrate.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { createDirectory, launchProgram, programKey, type Program } from '../support/process.ts'

/** A PostgreSQL of its own for one test. */
async function startPostgres() {
  const dir = createDirectory()
  const server = await PostgresServer.start({ dir: dir.path, isDurable: false })
  return {
    server,
    dir,
    async [Symbol.asyncDispose]() {
      await server.stop()
      await dir[Symbol.asyncDispose]()
    },
  }
}

/** Answers on PostgreSQL's port as it does while it recovers, and counts who asks. */
async function answerAsRecovering(port: number) {
  let attempts = 0
  const open = new Set<Socket>()
  const fields = ['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is in recovery mode', ''].map(text => `${text}\0`)
  const text = Buffer.from(fields.join(''))
  const refusal = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), text])
  refusal.writeInt32BE(text.length + 4, 1)
  const server = createServer(socket => {
    attempts++
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    socket.once('data', () => socket.end(refusal))
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    get attempts() {
      return attempts
    },
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function untilReady(program: Program): Promise<string> {
  const ending = program.ended.then(end => Promise.reject(new Error(`It ended with ${end}: ${program.output()}`)))
  const ready = eventually(
    () => {
      const url = /listens on (\S+)/.exec(program.output())?.[1]
      if (url === undefined) throw new Error(`It is not ready: ${program.output()}`)
      return url
    },
    { timeoutMs: 90_000 },
  )
  return Promise.race([ready, ending])
}

const all = listOwnMigrations().size
const countIn = async (sql: Sql, table: string) =>
  Number((await sql.unsafe<{ count: string }[]>(`select count(*) from ${table}`))[0]!.count)

test.each<{ moment: string; isReached: (sql: Sql) => Promise<boolean> }>([
  { moment: 'while the schema is made', isReached: async sql => (await countIn(sql, 'migrations')) >= 0 },
  { moment: 'when the schema is there', isReached: async sql => (await countIn(sql, 'migrations')) === all },
  { moment: 'when it has registered', isReached: async sql => (await countIn(sql, 'nodes')) > 0 },
  { moment: 'when its key is there', isReached: async sql => (await countIn(sql, 'api_keys')) > 0 },
])('a start that PostgreSQL interrupts $moment says so, waits, and then serves', async ({ isReached }) => {
  await using postgres = await startPostgres()
  await using dir = createDirectory()
  const { server } = postgres
  await using program = launchProgram(dir, { DATABASE_URL: server.url, API_KEY: programKey })
  await eventually(async () => expect(await isReached(server.sql)).toBe(true), { timeoutMs: 60_000, everyMs: 2 })

  await server.crash()
  const recovering = await answerAsRecovering(server.port)
  await delay(2_000)
  const { attempts } = recovering
  await recovering.close()
  await server.start()

  const url = await untilReady(program)
  expect((await client(url, programKey).get('/api/users')).status).toBe(200)
  expect(attempts).toBeLessThanOrEqual(20)
  expect(program.output()).not.toMatch(/^\s+at /m)
})

test('a node that starts before PostgreSQL says what it waits for, asks seldom, and opens its port when it can serve', async () => {
  await using postgres = await startPostgres()
  await using dir = createDirectory()
  const { server } = postgres
  await server.crash()
  const recovering = await answerAsRecovering(server.port)
  await using program = launchProgram(dir, { DATABASE_URL: server.url, API_KEY: programKey })
  await eventually(() => expect(program.output()).toContain('Waiting for it.'))
  const before = recovering.attempts

  await delay(2_000)
  expect(recovering.attempts - before).toBeLessThanOrEqual(4)
  await recovering.close()
  expect(program.output()).toContain(`PostgreSQL cannot be reached at 127.0.0.1:${server.port}/postgres`)
  expect(program.output()).toContain('the database system is in recovery mode')
  await server.start()

  const url = await untilReady(program)
  expect((await client(url, programKey).get('/api/users')).status).toBe(200)
})

test('a node that waits for PostgreSQL ends when it is told to', async () => {
  await using dir = createDirectory()
  await using program = launchProgram(dir, { DATABASE_URL: 'postgres://parley:hidden@127.0.0.1:1/parley' })
  await eventually(() => expect(program.output()).toContain('Waiting for it.'))

  program.kill('SIGTERM')

  expect(await program.ended).toBe(0)
})
