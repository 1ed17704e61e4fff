import { expect, test } from 'vitest'
import { create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { upload } from '../support/uploads.ts'

test('an answer that is deleted for good leaves nothing behind that says what it cited', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await server.chatWith(1)
  const write = { text: 'As [1] says', metadata: { run: '1' } }
  const [gone, kept] = [
    await create(people[0]!, `/api/apps/${app}/messages`, write),
    await create(people[0]!, `/api/apps/${app}/messages`, write),
  ]
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 10_000 })
  for (const { id } of [gone, kept])
    await sql`insert into item_annotations (item_type, item_id, place, file_id) values ('message', ${id}, 0, 1)`

  await people[0]!.delete(`/api/messages/${gone.id}`)

  const left = await sql`select item_id from item_annotations`
  await sql.end()
  expect(left).toEqual([{ item_id: Number(kept.id) }])
})

test('the files that an answer cites are seen by its readers, with ways to them only where these may read them', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: library } = await server.admin.post('/api/apps', { type: 'files', name: 'Library', members: [ann.id] })
  const { body: blob } = await upload(server.admin, { name: 'a.txt', content: 'alpha' })
  const { body: file } = await server.admin.post(`/api/apps/${library.id}/files`, { blob_id: blob.id })
  const { body: answer } = await ann.post(`/api/apps/${app}/messages`, { text: 'As [1] says', metadata: { run: '1' } })
  const sql = openSql({ url: database.url, connections: 1, statementTimeoutMs: 10_000 })
  await sql`
    insert into item_annotations (item_type, item_id, place, file_id) values ('message', ${answer.id}, 0, ${file.id})`
  await sql.end()
  const seenBy = async (reader: typeof ann | typeof server.admin) => {
    const { body } = await reader.get(`/api/messages/${answer.id}`)
    const { body: list } = await reader.get(`/api/apps/${app}/messages?out=details`)
    expect(list.data[0].annotations).toEqual(body.annotations)
    return body.annotations
  }

  const [byKey, byMember, byOther] = await Promise.all([server.admin, ann, ben].map(seenBy))
  await server.admin.post(`/api/files/${file.id}/trash`)
  const afterwards = await seenBy(ann)

  for (const shown of [byKey, byMember]) {
    expect(shown.data[0]).toMatchObject({ id: file.id, name: 'a.txt', app: { id: library.id } })
    expect(shown.data[0].download_url).toContain('/files/')
  }
  expect(byOther.data[0]).toMatchObject({ id: file.id, name: 'a.txt' })
  expect(Object.keys(byOther.data[0]).filter(name => name.endsWith('_url'))).toEqual([])
  expect(afterwards.count).toBe('0')
})
