import { expect, test } from 'vitest'
import { firstOffset } from '../../src/log/id-pool.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { client, type Body } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startPair } from '../support/pair.ts'
import { startReceiver } from '../support/receiver.ts'
import { payloadOf, register } from '../support/webhooks.ts'

const count = 60

test('what two nodes append to one app has one id and one time in answers, repeats, webhooks and all tables', async () => {
  await using receiver = await startReceiver()
  await using pair = await startPair({ hasRedis: false })
  const { here, there, sql } = pair
  await register(here, receiver.url, { triggers: ['messages', 'posts'] })
  const [ann, ben] = [await here.person(), await here.person()]
  const make = async (type: string) => {
    const { body } = await ann.post('/api/apps', { type, members: [ben.id] })
    return body.id as string
  }
  const [room, feed] = [await make('chat_room'), await make('posts')]
  const senders = [ann, client(there.url, ben.token)]
  const sendAll = () =>
    Promise.all(
      Array.from({ length: count * 2 }, async (_, i) => {
        const path = i % 10 < 8 ? `/api/apps/${room}/messages` : `/api/apps/${feed}/posts`
        const text = i % 7 === 0 ? `[Ben](@u${ben.id}), number ${i}` : `number ${i}`
        const headers = { 'idempotency-key': `send-${i}` }
        const { body } = await senders[i % 2]!.post(path, { text, metadata: { i } }, headers)
        return body
      }),
    )

  const sent = await sendAll()

  expect(placesOf(await sendAll())).toEqual(placesOf(sent))
  const rows = await sql<{ id: number; created_at: Date; metadata: { i: number } }[]>`
    select id, created_at, metadata from messages union all select id, created_at, metadata from posts`
  const kept = rows.map(({ id, created_at, metadata }) => [id, created_at.toISOString().slice(0, 19), metadata.i])
  expect(placesOf(sent)).toEqual(kept.toSorted(byId))
  await eventually(() => {
    const payloads = receiver.requests.map(payloadOf).filter(({ action }) => /^(?:message|post)_created$/.test(action))
    expect(placesOf(payloads.map(({ message, post }) => message ?? post))).toEqual(kept.toSorted(byId))
  })
  await expectNoOffset(sql)
})

type Place = (string | number)[]
const byId = ([a]: Place, [b]: Place) => Number(a) - Number(b)

/** The id of each item, when it was made, and which it is. */
function placesOf(items: Body[]): Place[] {
  return items
    .map(({ id, created_at, metadata }) => [Number(id), created_at.slice(0, 19), Number(metadata.i)])
    .toSorted(byId)
}

/** Holds that no row of any table has an offset in it, in a column or within JSON. */
async function expectNoOffset(sql: Sql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`
  const offset = String(firstOffset).slice(0, -2)
  for (const { name } of tables) {
    const found = await sql`select t::text from ${sql(name)} t where t::text like ${`%${offset}%`}`
    expect({ name, found }).toEqual({ name, found: [] })
  }
}
