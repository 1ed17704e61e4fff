import { expect, test } from 'vitest'
import { openSql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

test('what an item is sent with for agents is its author’s own, shown to nobody, and may be sent again', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { body: mine } = await upload(ann, { name: 'page.txt', content: 'What the page shows' })
  const { body: theirs } = await upload(ben, { name: 'other.txt', content: 'Something else' })
  const send = (context: unknown) => ann.post(`/api/apps/${app}/messages`, { text: 'Look', context })

  const foreign = await send([theirs.id])
  const sent = [await send([mine.id]), await send([mine.id]), await send(null), await send([])]

  expect(foreign).toMatchObject({ status: 422, body: { errors: { context: [expect.any(String)] } } })
  expect(sent.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  expect(sent[0]!.body.context).toBeUndefined()
  expect(sent[0]!.body.attachments).toEqual({ count: '0', start: '0', end: '0' })
  expect((await ann.patch(`/api/messages/${sent[0]!.body.id}`, { context: 'no matter' })).status).toBe(200)
})

test('nothing is kept of what an item was sent with for agents once the item is deleted', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const { body: page } = await upload(ann!, { name: 'page.txt', content: 'What the page shows' })
  const send = async () =>
    (await ann!.post(`/api/apps/${app}/messages`, { text: 'Look', context: [page.id] })).body.id as string
  const [gone, kept] = [await send(), await send()]

  await ann!.delete(`/api/messages/${gone}`)

  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 10_000 })
  const left = await sql`select item_id from item_context`
  await sql.end()
  expect(left).toEqual([{ item_id: Number(kept) }])
})
