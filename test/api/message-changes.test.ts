import { expect, test } from 'vitest'
import type { Body, Client } from '../support/client.ts'
import { appOf, create, idsIn } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)

test('an edit changes what it names and says who and when; one that changes nothing leaves no trace', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const given = { text: 'one', metadata: { b: 1, a: 2 }, tags: ['x'] }
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, given)
  const path = `/api/messages/${message.id}`

  for (const same of [{}, given, { metadata: { a: 2, b: 1 } }, { text: 'one' }]) {
    expect((await ann.patch(path, same)).body).toEqual(message)
  }
  const edited = await ann.patch(path, { text: '_two_' })

  const { rev } = message.app
  expect(edited).toMatchObject({
    status: 200,
    body: { ...given, text: '_two_', html: '<p><em>two</em></p>', plain: 'two', updated_at: timestamp },
  })
  expect(edited.body).toMatchObject({ updated_by: { id: ann.id }, created_by: { id: ann.id }, app: { rev } })
  expect((await ann.patch(path, { metadata: null, tags: null })).body).not.toHaveProperty('metadata')
  expect((await ben.get(path)).body).toMatchObject({ text: '_two_', updated_by: { id: ann.id } })
  expect((await ben.get(`/api/apps/${app}/messages`)).body.data).toMatchObject([
    { text: '_two_', updated_at: timestamp },
  ])
})

test('whoever may no longer write may not edit or trash what they wrote', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: app } = await ann.post('/api/apps', { type: 'chat', members: [ben.id] })
  const { body: message } = await ben.post(`/api/apps/${app.id}/messages`, { text: 'mine' })
  const calls = (): Promise<{ status: number }>[] => [
    ben.patch(`/api/messages/${message.id}`, { text: 'changed' }),
    ben.post(`/api/messages/${message.id}/trash`),
    ben.delete(`/api/messages/${message.id}`),
  ]

  await ann.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'read' })
  expect((await Promise.all(calls())).map(({ status }) => status)).toEqual([403, 403, 403])
  await ann.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'none' })
  expect((await Promise.all(calls())).map(({ status }) => status)).toEqual([404, 404, 404])
  expect((await ann.get(`/api/messages/${message.id}`)).body.text).toBe('mine')
})

test('in the trash a message is seen by its author, admins and API keys alone, when they ask', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(server.person))
  const { body: app } = await ann!.post('/api/apps', { type: 'chat', members: [ben!.id, eve!.id] })
  const path = `/api/apps/${app.id}/messages`
  const { body: kept } = await ben!.post(path, { text: 'kept' })
  const { body: message } = await ben!.post(path, { text: 'binned' })
  const ids = async (one: Client, query: string) =>
    ((await one.get(`${path}?${query}`)).body.data ?? []).map((item: Body) => item.id)

  expect((await ben!.post(`/api/messages/${message.id}/trash`)).status).toBe(204)
  expect((await ben!.post(`/api/messages/${message.id}/trash`)).status).toBe(204)

  for (const one of [ann!, ben!, server.admin]) {
    expect((await one.get(`/api/messages/${message.id}`)).status).toBe(404)
    expect((await one.get(`/api/messages/${message.id}?trashed=true`)).body).toMatchObject({
      text: 'binned',
      is_trashed: true,
    })
    expect(await ids(one, 'trashed=true')).toEqual([message.id])
    expect(await ids(one, 'trashed=null')).toEqual([kept.id, message.id])
    expect(await ids(one, 'trashed=null&order_by=id+desc&out=details')).toEqual([message.id, kept.id])
    expect(await ids(one, '')).toEqual([kept.id])
    expect((await one.get('/api/messages?trashed=true')).body.data).toMatchObject([{ id: message.id }])
    expect((await one.get(`${path}?trashed=true&around=${message.id}`)).body.count).toBe('1')
    expect((await one.get(`${path}?around=${message.id}`)).status).toBe(404)
  }
  expect((await eve!.get(`/api/messages/${message.id}?trashed=true`)).status).toBe(404)
  expect(await ids(eve!, 'trashed=true')).toEqual([])
  expect(await ids(eve!, 'trashed=null')).toEqual([kept.id])
  expect((await ben!.patch(`/api/messages/${message.id}`, { text: 'changed' })).status).toBe(404)
  expect((await ann!.get(`/api/apps/${app.id}`)).body.last_message.id).toBe(kept.id)

  expect((await ann!.post(`/api/messages/${message.id}/restore`)).status).toBe(204)
  expect((await ann!.post(`/api/messages/${message.id}/restore`)).status).toBe(204)
  expect(await ids(eve!, 'order_by=id+desc')).toEqual([message.id, kept.id])
  expect((await eve!.get(`/api/apps/${app.id}`)).body.last_message.id).toBe(message.id)
})

test('lists show nobody what they may no longer take out of the trash', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const other = await appOf(server, 'posts', [ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'kept' })
  const binned = await create(ben, `/api/apps/${app}/posts`, { text: 'binned' })
  const elsewhere = await create(ben, `/api/apps/${other}/posts`, { text: 'binned' })
  const comment = await create(ben, `/api/posts/${post.id}/comments`, { text: 'binned' })
  for (const path of [`posts/${binned.id}`, `posts/${elsewhere.id}`, `comments/${comment.id}`])
    await ben.post(`/api/${path}/trash`)
  const lists = [`apps/${app}/posts`, 'posts', `posts/${post.id}/comments`, 'comments']
  const queries = ['trashed=true', 'trashed=null', 'trashed=null&q=binned', 'trashed=true&order_by=updated_at']
  const listed = async () => {
    const pages = lists.flatMap(list => queries.map(query => ben.get(`/api/${list}?${query}`)))
    return (await Promise.all(pages)).map(page => idsIn(page).concat(page.body.count))
  }

  expect(await listed()).toEqual([
    ...[
      [binned.id, '1'],
      [binned.id, post.id, '2'],
      [binned.id, '1'],
      [binned.id, '1'],
    ],
    ...[
      [elsewhere.id, binned.id, '2'],
      [elsewhere.id, binned.id, post.id, '3'],
      [elsewhere.id, binned.id, '2'],
      [binned.id, elsewhere.id, '2'],
    ],
    ...Array.from({ length: 8 }, () => [comment.id, '1']),
  ])
  await server.admin.put(`/api/apps/${app}/members/${ben.id}`, { access: 'read' })

  expect(await listed()).toEqual([
    ...[['0'], [post.id, '1'], ['0'], ['0']],
    ...[
      [elsewhere.id, '1'],
      [elsewhere.id, post.id, '2'],
      [elsewhere.id, '1'],
      [elsewhere.id, '1'],
    ],
    ...Array.from({ length: 8 }, () => ['0']),
  ])
  expect((await ben.post(`/api/posts/${binned.id}/restore`)).status).toBe(403)
  expect((await ben.get(`/api/posts/${binned.id}?trashed=true`)).body).toMatchObject({ is_trashed: true })
})

test('what changes nothing about a message raises no event', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'hi', tags: ['t'] })
  const path = `/api/messages/${message.id}`
  const logged = async () => (await database.sql`select type from events where app_id = ${app}`).map(({ type }) => type)
  const made = await logged()

  await ann.post(`${path}/restore`)
  await ann.patch(path, { text: 'hi', tags: ['t'] })
  await ann.put(`/api/apps/${app}/mark`)
  await ann.post(`${path}/trash`)
  await ann.post(`${path}/trash`)
  await ann.delete(path)
  await ann.delete(path)

  expect(await logged()).toEqual([...made, 'message_updated', 'message_deleted'])
})

test('a deleted message is gone for everybody, from the trash or not', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const path = `/api/apps/${app}/messages`
  for (const isTrashed of [false, true]) {
    const { body: message } = await ann.post(path, { text: 'gone soon' })
    if (isTrashed) await ann.post(`/api/messages/${message.id}/trash`)

    expect((await ann.delete(`/api/messages/${message.id}`)).status).toBe(204)

    for (const one of [ann, ben, server.admin]) {
      expect((await one.get(`/api/messages/${message.id}?trashed=true`)).status).toBe(404)
      expect((await one.get(`${path}?trashed=null`)).body).toEqual({ start: '0', end: '0', count: '0' })
      expect((await one.delete(`/api/messages/${message.id}`)).status).toBe(404)
      expect((await one.post(`/api/messages/${message.id}/restore`)).status).toBe(404)
    }
  }
  expect((await ann.get(`/api/apps/${app}`)).body).not.toHaveProperty('last_message')
})

test('an embed that another edit takes away meanwhile is there again where an edit names it', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await using server = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const embed = await create(ann, '/api/embeds', { type: 'link', title: 'A link' })
  const message = await create(ann, `/api/apps/${app}/messages`, { text: 'Look', embed_id: embed.id })
  const path = `/api/messages/${message.id}`
  const waiting = (commands: number) =>
    eventually(async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      expect(text).toContain(`\nparley_mailbox_commands ${commands}\n`)
    })
  const locking = await sql.reserve()
  await locking`begin`
  await locking`select from apps where id = ${app} for update`

  const removing = ann.patch(path, { embed_id: null })
  await waiting(1)
  const naming = ann.patch(path, { embed_id: embed.id })
  await waiting(2)
  await locking`commit`
  locking.release()

  expect((await removing).body).not.toHaveProperty('embed')
  expect((await naming).body.embed).toEqual(embed)
  expect((await ann.get(path)).body.embed).toEqual(embed)
})
