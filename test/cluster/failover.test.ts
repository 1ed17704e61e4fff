import { expect, test } from 'vitest'
import { describeHosts, readHosts } from '../../src/postgres/driver/hosts.ts'
import { openConnection, type Sql } from '../../src/postgres/sql.ts'
import { eventually } from '../support/eventually.ts'
import { startReplicated } from '../support/replicated.ts'
import { startServer } from '../support/server.ts'

test('a database URL names one server or several, each with its port', () => {
  const several = 'postgres://ann:p%40ss@one,two:5433,[::1]:5434/parley?target_session_attrs=read-write'

  expect(readHosts(several)).toMatchObject({ hosts: ['one', 'two', '::1'], ports: [5432, 5433, 5434] })
  expect(describeHosts(several)).toBe('one:5432,two:5433,::1:5434/parley')
  expect(readHosts('postgres://parley@%2Ftmp%2Fpg:5433/x')).toMatchObject({ hosts: ['/tmp/pg'], ports: [5433] })
  for (const wrong of ['mysql://one/x', 'postgres://one,,two/x', 'postgres://one:port/x', 'nothing']) {
    expect(readHosts(wrong)).toBeNull()
  }
})

test('when the primary dies and its synchronous standby takes over, nothing that was acknowledged is lost or doubled', async () => {
  await using postgres = await startReplicated()
  await using server = await startServer({ DATABASE_URL: postgres.url })
  await postgres.primary.waitForStandby()
  const { app, people } = await server.chatWith(2)
  const acknowledged: string[] = []
  const statuses = new Set<number>()
  const over = new AbortController()
  const send = async (i: number) => {
    for (let n = 0; !over.signal.aborted; n++) {
      const text = `message ${i}-${n}`
      const idempotencyKey = { 'idempotency-key': text }
      // As clients do: what was not answered with success is sent again, under its key.
      for (let status = 0; status !== 201 && !over.signal.aborted;) {
        // A node that begins anew with another time line closes its connections, also on a request that is on its way.
        const answer = await people[i % 2]!.post(`/api/apps/${app}/messages`, { text }, idempotencyKey).catch(
          () => null,
        )
        if (answer === null) continue
        ;({ status } = answer)
        statuses.add(status)
        if (status === 201) acknowledged.push(text)
      }
    }
  }
  const sending = Promise.all(Array.from({ length: 8 }, (_, i) => send(i)))
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(100), { timeoutMs: 30_000 })

  await postgres.primary.crash()
  await postgres.standby.promote()
  const before = acknowledged.length
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + 100), { timeoutMs: 30_000 })
  over.abort()
  await sending

  expect([...statuses].toSorted()).toEqual([201, 503])
  const texts = await listTexts(postgres.standby.sql)
  expect(texts.filter((text, i) => texts.indexOf(text) !== i)).toEqual([])
  expect(acknowledged.filter(text => !texts.includes(text))).toEqual([])
})

test('a connection to several servers goes to the primary, wherever it stands, and fails while there is none', async () => {
  await using postgres = await startReplicated()
  const [one, two] = [postgres.primary, postgres.standby].map(({ url }) => new URL(url).host)
  const turned = postgres.url.replace(`${one},${two}`, `${two},${one}`)
  const options = { statementTimeoutMs: 1000 }
  const connections = [postgres.url, turned].map(url => openConnection({ url, ...options }))

  for (const sql of connections) expect(await isStandby(sql)).toBe(false)
  await postgres.primary.crash()

  const startedAt = Date.now()
  for (const sql of connections) await expect(isStandby(sql)).rejects.toThrow()
  for (const sql of connections) await expect(isStandby(sql)).rejects.toThrow()
  expect(Date.now() - startedAt).toBeLessThan(5_000)
  await postgres.standby.promote()
  for (const sql of connections) {
    await eventually(async () => expect(await isStandby(sql)).toBe(false), { timeoutMs: 5_000 })
    await sql.end()
  }
})

async function isStandby(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ is_standby: boolean }]>`select pg_is_in_recovery() as is_standby`
  return row.is_standby
}

async function listTexts(sql: Sql): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`select text from messages`
  return rows.map(({ text }) => text)
}
