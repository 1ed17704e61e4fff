import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { allFollowed } from '../support/followed.ts'
import { createDirectory, startProgram } from '../support/process.ts'

test('of what a killed process had still to work off, the next one loses nothing and does nothing twice', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await using dir = createDirectory()
  const environment = { DATABASE_URL: database.url, NOTIFY_SECONDS: '0' }
  await using first = await startProgram(dir, environment)
  const { admin } = first
  const make = async (path: string, body: object) => (await admin.post(path, body)).body.id as string
  const ben = await make('/api/users', { uid: 'ben', name: 'Ben' })
  const rooms = await Promise.all(
    Array.from({ length: 5 }, (_, i) => make('/api/apps', { type: 'chat_room', name: `Room ${i}`, members: [ben] })),
  )
  const numbers = Array.from({ length: 60 }, (_, i) => i)
  const text = (i: number) => (i % 2 === 0 ? `word${i} [Ben](@u${ben})` : `word${i}`)

  const sending = numbers.map(i => admin.post(`/api/apps/${rooms[i % 5]}/messages`, { text: text(i) }))
  // In the middle: some was worked off, some was not, and some is perhaps never sent.
  await eventually(async () => expect((await sql`select from notifications`).length).toBeGreaterThan(0))
  first.kill('SIGKILL')
  await Promise.allSettled(sending)
  await first.ended
  await using second = await startProgram(dir, environment)

  await allFollowed(sql, { timeoutMs: 15_000 })
  const [mentions, terms, rolled] = await Promise.all([
    sql`select m.id from messages m where strpos(m.html, ${`data-eid="u${ben}"`}) > 0 except
      select link_id from notifications where type = 'mention'`,
    sql`select id from messages except select id from messages_terms`,
    sql`select app_id from notifications where from_id is not null group by app_id having count(*) > 1`,
  ])
  const told = await sql<{ link_id: number }[]>`select link_id from notifications where type = 'mention'`
  expect({ mentions, terms, rolled }).toEqual({ mentions: [], terms: [], rolled: [] })
  expect(new Set(told.map(({ link_id }) => link_id)).size).toBe(told.length)
  const unread = await second.admin.get(`/api/notifications?user=${ben}&type=activity`)
  const counted = await sql<{ count: string }[]>`select count(*)::text as count from messages where html is null`
  const sum = unread.body.data.reduce((all: number, { args }: { args: string[] }) => all + (Number(args[1]) || 1), 0)
  expect(String(sum)).toBe(counted[0]!.count)
})
