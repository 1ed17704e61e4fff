import { expect, test } from 'vitest'
import { sign } from '../../src/resources/webhooks/delivery/attempt.ts'
import { Secret } from '../../src/lib/secret.ts'
import { Vault } from '../../src/lib/vault.ts'
import { sealJob } from '../../src/resources/seals.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServer, type Server } from '../support/server.ts'

const keys = [1, 2].map(fill => Buffer.alloc(32, fill).toString('base64')) as [string, string]
const headers = { 'X-Key': 'a-header-value-in-clear' }
const secret = 'a-webhook-secret-in-clear'

test('with SECRET_KEYS a dump of the database has no header of agents and no secret of a webhook in clear', async () => {
  await using database = await createDatabase()
  await using receiver = await startReceiver()
  await using server = await startServer({ DATABASE_URL: database.url, SECRET_KEYS: keys[0] })

  const { added, repeated } = await configure(server, receiver.url)
  const { app, people } = await server.chatWith(1)
  await people[0].post(`/api/apps/${app}/messages`, { text: 'Hello' })
  const [delivery] = await receiver.take(1)

  expect(await dump(database)).not.toMatch(/in-clear/)
  expect([added.body.headers, repeated.body.headers]).toEqual([headers, headers])
  expect(await listHeaders(server)).toEqual([headers, headers, headers])
  expect(delivery.headers['x-service-signature']).toBe(sign(Buffer.from(delivery.body), secret))
})

test('what changes stays sealed, under another name too', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url, SECRET_KEYS: keys[0] })
  await configure(server, 'http://127.0.0.1:1/')

  const renamed = await server.admin.patch('/api/agents/helper/functions/get_order', { name: 'find_order' })
  const other = { 'X-Key': 'another-value-in-clear' }
  const changed = await server.admin.patch('/api/agents/helper/mcp/crm', { headers: other })
  const cleared = await server.admin.patch('/api/agents/helper/functions/more', { headers: null })

  expect(renamed.body).toMatchObject({ name: 'find_order', headers })
  expect(changed.body.headers).toEqual(other)
  expect(cleared.body).not.toHaveProperty('headers')
  expect(await dump(database)).not.toMatch(/in-clear/)
})

test('functions that are put again as they are leave no trace, although they would be sealed anew', async () => {
  await using server = await startServer({ SECRET_KEYS: keys[0] })
  await configure(server, 'http://127.0.0.1:1/')
  const functions = [aFunction('get_order'), aFunction('more')]

  const before = await server.admin.get('/api/agents/helper')
  const after = await server.admin.patch('/api/agents/helper', { functions })

  expect(after.body.updated_at).toBe(before.body.updated_at)
})

test('what was stored in clear, or with an older key, is sealed with the first key in the background', async () => {
  await using database = await createDatabase()
  {
    await using server = await startServer({ DATABASE_URL: database.url })
    await configure(server, 'http://127.0.0.1:1/')
  }
  expect(await dump(database)).toMatch(/in-clear/)
  await database.sql`delete from idempotency`

  for (const order of [[0], [1, 0]]) {
    const vault = new Vault(order.map(place => new Secret(keys[place]!)))
    await sealJob({ sql: database.sql, vault }).run(new AbortController().signal)
    expect(await dump(database)).not.toMatch(/in-clear/)
  }

  await using server = await startServer({ DATABASE_URL: database.url, SECRET_KEYS: keys[1] })
  expect(await listHeaders(server)).toEqual([headers, headers, headers])
})

test('a node does not start without the keys that something is sealed with', async () => {
  await using database = await createDatabase()
  {
    await using server = await startServer({ DATABASE_URL: database.url, SECRET_KEYS: keys[0] })
    await configure(server, 'http://127.0.0.1:1/')
  }

  await expect(startServer({ DATABASE_URL: database.url, SECRET_KEYS: keys[1] })).rejects.toThrow('SECRET_KEYS lacks')
  await expect(startServer({ DATABASE_URL: database.url })).rejects.toThrow('SECRET_KEYS lacks')
})

const aFunction = (name: string) => ({ name, description: 'Finds', url: 'http://127.0.0.1:1/', headers })

/** An agent with two functions and a tool server, and a webhook; one call is repeated with its Idempotency-Key. */
async function configure({ admin }: Server, url: string) {
  await admin.post('/api/agents', {
    uid: 'helper',
    name: 'Helper',
    provider: 'openai',
    model: 'x',
    functions: [aFunction('get_order')],
  })
  const add = () => admin.post('/api/agents/helper/functions', aFunction('more'), { 'Idempotency-Key': 'once' })
  const [added, repeated] = [await add(), await add()]
  await admin.post('/api/agents/helper/mcp', { name: 'crm', url: 'http://127.0.0.1:1/', headers })
  await admin.post('/api/webhooks', { payload_url: url, triggers: ['messages'], secret })
  return { added, repeated }
}

/** As those who manage an agent see them. */
async function listHeaders({ admin }: Server): Promise<unknown[]> {
  const functions = await admin.get('/api/agents/helper/functions')
  const servers = await admin.get('/api/agents/helper/mcp')
  return [...functions.body, ...servers.body].map(({ headers }: { headers: unknown }) => headers)
}

/** Every row of every table, as text. */
async function dump({ sql }: Database): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select quote_ident(table_name) as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`
  const rows = await Promise.all(
    tables.map(({ name }) => sql.unsafe<{ text: string }[]>(`select to_jsonb(t)::text as text from ${name} t`)),
  )
  return rows
    .flat()
    .map(({ text }) => text)
    .join('\n')
}
