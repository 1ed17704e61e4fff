import { expect, test } from 'vitest'
import { create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { count, heard } from '../support/notifications.ts'
import { listen } from '../support/realtime.ts'
import { startServer, type Person } from '../support/server.ts'

const send = (person: Person, app: string, text: string) => create(person, `/api/apps/${app}/messages`, { text })

test('unread messages of an app are one notification, which says who wrote, how many, and the newest', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(4)
  const [ann, ben, eve, kim] = people
  await server.admin.patch(`/api/apps/${app}`, { name: 'Plans' })

  const first = await send(ann, app, 'One')
  const [alone] = await heard(ben, 1)
  await send(ann, app, 'Two')
  const [twice] = await heard(ben, 1)
  await send(eve, app, 'Three')
  const [both] = await heard(ben, 1)
  const newest = await send(kim, app, 'Four')
  const [all] = await heard(ben, 1)

  expect([alone, twice, both, all].map(({ text }) => text)).toEqual([
    '**Ann** sent a message in **Plans**: "One"',
    '**Ann** wrote 2 messages in **Plans**: "Two"',
    '**Eve** and **Ann** wrote 3 messages in **Plans**: "Three"',
    '**Kim** and 2 others wrote 4 messages in **Plans**: "Four"',
  ])
  expect(alone.updated_at).toBeUndefined()
  expect(all).toMatchObject({
    id: alone.id,
    actor: { id: kim.id },
    link: { type: 'message', id: newest.id },
    created_at: first.created_at,
    updated_at: newest.created_at,
    is_unread: true,
  })
})

test('nothing is written, and nobody is told, when a notification stands for more messages', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using inbox = await listen(server.url, { token: ben.token })
  const rows = () => database.sql`select xmin::text, * from notifications`
  const idle = () =>
    eventually(async () => {
      const left = await database.sql`
        select from notification_cursors c join apps a on a.id = c.app_id where a.head_rev > c.rev or due_at is not null`
      expect(left).toHaveLength(0)
    })
  await send(ann, app, 'One')
  await inbox.hear('notification_created')
  const before = await rows()

  for (let i = 0; i < 10; i++) await send(ann, app, `More ${i}`)
  await idle()
  await inbox.settle()

  expect(await rows()).toEqual(before)
  expect(inbox.frames.filter(({ type }) => type.startsWith('notification'))).toEqual([])
  expect((await heard(ben, 1))[0].args[1]).toBe('11')
})

test('who reads along is not notified, who does not read is after the time that is set', async () => {
  await using server = await startServer({ NOTIFY_SECONDS: '1' })
  const { app, people } = await server.chatWith(3)
  const [ann, ben, eve] = people

  const message = await send(ann, app, 'Hello')
  await ben.put(`/api/apps/${app}/mark`)
  const atOnce = await count(eve)
  await heard(eve, 1)

  expect(atOnce).toBe('0')
  expect(await count(ben)).toBe('0')
  const [{ link }] = await heard(eve, 1)
  expect(link.id).toBe(message.id)
})

test('a notification stands for what is left to read, until all is read; then there is another', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await using inbox = await listen(server.url, { token: ben.token })
  const one = await send(ann, app, 'One')
  await send(ann, app, 'Two')
  const [first] = await heard(ben, 1)

  await ben.put(`/api/apps/${app}/mark?message_id=${one.id}`)
  const [partly] = await heard(ben, 1)
  await ben.put(`/api/apps/${app}/mark`)
  await inbox.hear('notifications_marked')
  const [read] = await heard(ben, 1)
  await send(ann, app, 'Three')
  const [second] = await heard(ben, 2)

  expect(partly).toMatchObject({ id: first.id, is_unread: true, args: ['Ann', 'Ann', 'Two'] })
  expect(read).toMatchObject({ id: first.id, is_unread: false, args: ['Ann', '2', 'Ann', 'Two'] })
  expect(second).toMatchObject({ is_unread: true, args: ['Ann', 'Ann', 'Three'] })
})

test('what was marked as read without being read is not notified of again with what follows', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  await send(ann, app, 'One')
  const [first] = await heard(ben, 1)
  await ben.put(`/api/notifications/${first.id}/mark`)

  await send(ann, app, 'Two')
  const [second] = await heard(ben, 2)
  await ben.delete(`/api/notifications/${first.id}/mark`)

  expect(second).toMatchObject({ is_unread: true, args: ['Ann', 'Ann', 'Two'] })
  // There is at most one unread: the earlier one stands for all that follows again.
  expect(await heard(ben, 1)).toMatchObject([{ id: first.id, is_unread: true, args: ['Ann', '2', 'Ann', 'Two'] }])
})

test('messages that mention somebody have a notification of their own, and do not count in the other', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people

  await send(ann, app, `Look, [Ben](@u${ben.id})`)
  await heard(ben, 1)
  await send(ann, app, 'Well?')

  const [rolled, mention] = await heard(ben, 2)
  expect(mention).toMatchObject({ type: 'mention', args: ['Ann', 'Look, @Ben'] })
  expect(rolled).toMatchObject({ type: 'activity', args: ['Ann', 'Ann', 'Well?'] })
})

test('messages in the trash do not count; where none is left, the notification is hidden', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const [one, two] = [await send(ann, app, 'One'), await send(ann, app, 'Two')]
  const [{ id }] = await heard(ben, 1)

  await ann.post(`/api/messages/${two.id}/trash`)
  const [left] = await heard(ben, 1)
  await ann.delete(`/api/messages/${one.id}`)
  const none = [await count(ben, '&unread=true'), (await ben.get(`/api/notifications/${id}`)).status]
  await ann.post(`/api/messages/${two.id}/restore`)

  expect(left.args).toEqual(['Ann', 'Ann', 'One'])
  expect(none).toEqual(['0', 404])
  expect((await heard(ben, 1))[0]).toMatchObject({ id, args: ['Ann', 'Ann', 'Two'], link: { id: two.id } })
})

test('what somebody has no access to any more is not shown, and comes back with the access', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const feed = await create(ann, '/api/apps', { type: 'posts', members: [ben.id] })
  const post = await create(ann, `/api/apps/${feed.id}/posts`, { text: `Secret [Ben](@u${ben.id})` })
  const [{ id }] = await heard(ben, 1)
  const seen = async () => [
    (await ben.get(`/api/posts/${post.id}`)).status,
    (await ben.get(`/api/notifications/${id}`)).status,
    await count(ben, '&unread=true'),
    (await ben.get('/api/notifications')).body.data?.length ?? 0,
  ]

  await ann.delete(`/api/apps/${feed.id}/members/${ben.id}`)
  const without = await seen()
  await ann.put(`/api/apps/${feed.id}/members/${ben.id}`, { access: 'read' })

  expect(without).toEqual([404, 404, '0', 0])
  expect(await seen()).toEqual([200, 200, '1', 1])
})
