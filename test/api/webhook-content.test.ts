import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { jobs } from '../../src/resources/apps/purge/jobs.ts'
import { removeContentOf } from '../../src/resources/items/removal/remove.ts'
import { insertAgent } from '../support/agent.ts'
import { appOf, create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { acknowledge, answer, hang, startReceiver } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'
import { payloadOf, register } from '../support/webhooks.ts'

/** A pixel. */
const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

test('posts and comments are told with all that hangs on them, but nothing that was written', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers: ['posts', 'comments'] })
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  const embed = await create(ann, '/api/embeds', { type: 'link', title: 'swordfish', description: 'swordfish' })
  const meeting = await create(ann, '/api/meetings', { join_url: 'https://zoom.us/j/1' })

  const content = { text: 'swordfish', options: [{ text: 'swordfish' }], embed_id: embed.id, meeting_id: meeting.id }
  const post = await create(ann, `/api/apps/${app}/posts`, content)
  await create(ann, `/api/posts/${post.id}/comments`, { text: 'swordfish' })
  await ann.delete(`/api/posts/${post.id}`)
  const requests = await receiver.take(3)

  for (const { body } of requests) {
    expect(body).not.toMatch(/swordfish|"text"|has_voted|is_starred|is_subscribed|permissions/)
  }
  const [published, commented, deleted] = requests.map(payloadOf)
  expect(published).toMatchObject({
    action: 'post_created',
    post: {
      id: post.id,
      app: { id: app },
      embed: { id: embed.id, type: 'link' },
      meeting: { id: meeting.id },
      options: { count: '1', data: [{ id: post.options.data[0].id, votes: { count: '0' } }] },
      comments: { count: '0' },
    },
  })
  expect(commented).toMatchObject({ action: 'comment_created', comment: { parent: { id: post.id, type: 'post' } } })
  expect(deleted).toMatchObject({ action: 'post_deleted', post: { id: post.id, app: { id: app } } })
})

test('an embed is told of without a word of whoever described it or of its page', async () => {
  await using server = await startServer({ FETCH_ALLOW: '127.0.0.0/8' })
  await using receiver = await startReceiver()
  await register(server, receiver.url)
  const head = `<title>swordfish</title><meta name="author" content="swordfish"><meta property="og:site_name" content="swordfish">`
  await using site = await startReceiver(answer(200, head, { 'content-type': 'text/html' }))
  const { app, people } = await server.chatWith(1)
  const [ann] = people
  const frame = '<iframe src="https://player.example/" title="swordfish"></iframe>'
  const url = `http://127.0.0.1:${site.port}/`

  const embeds = [
    await create(ann, '/api/embeds', { type: 'link', title: 'x', actions: ['swordfish'], metadata: { order: 7 } }),
    await create(ann, '/api/embeds', { type: 'rich', title: 'x', html: frame, width: 640 }),
    (await ann.get(`/api/embeds?url=${url}`)).body,
  ]
  for (const { id } of embeds) await create(ann, `/api/apps/${app}/messages`, { text: 'x', embed_id: id })
  const requests = await receiver.take(3)

  expect(embeds[2]).toMatchObject({ title: 'swordfish', author_name: 'swordfish', provider_name: 'swordfish' })
  for (const { body } of requests) expect(body).not.toMatch(/swordfish|"html"/)
  expect(requests.map(request => payloadOf(request).message.embed)).toEqual([
    { id: embeds[0].id, type: 'link', metadata: { order: 7 } },
    { id: embeds[1].id, type: 'rich', width: '640' },
    { id: embeds[2].id, type: 'link', url, provider_url: url.slice(0, -1) },
  ])
})

test('votes are told with their poll, and reactions with what they are for', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers: ['polls', 'reactions'] })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = await create(ann, `/api/apps/${app}/posts`, { text: 'x', options: [{ text: 'One' }, { text: 'Two' }] })
  const comment = await create(ann, `/api/posts/${post.id}/comments`, { text: 'x' })
  const [one, two] = post.options.data

  await ben.post(`/api/options/${one.id}/vote`)
  await ben.post(`/api/options/${two.id}/vote`)
  await ben.post(`/api/comments/${comment.id}/reactions`, { content: '🎉' })
  await ben.delete(`/api/comments/${comment.id}/reactions`)
  const requests = await receiver.take(5)

  const poll = { id: post.id, type: 'post', app: { id: app } }
  const entity = { id: comment.id, type: 'comment', app: { id: app }, parent: { id: post.id, type: 'post' } }
  const payloads = requests.map(payloadOf)
  expect(payloads).toMatchObject([
    { action: 'vote_added', actor: { id: ben.id }, poll, option: { id: one.id, votes: { count: '1' } } },
    { action: 'vote_removed', poll, option: { id: one.id, votes: { count: '0' } } },
    { action: 'vote_added', poll, option: { id: two.id, votes: { count: '1' } } },
    { action: 'reaction_added', entity, reaction: '🎉' },
    { action: 'reaction_removed', entity, reaction: '🎉' },
  ])
  expect(payloads[0].option).not.toHaveProperty('text')
  const triggers = requests.map(({ headers }) => headers['x-service-trigger'])
  expect(triggers).toEqual(['polls', 'polls', 'polls', 'reactions', 'reactions'])
})

test('an agent chat is told of without its name, which is what its person wrote first', async () => {
  await using database = await createDatabase()
  await insertAgent(database.url, 'helper')
  await using server = await startServer({ DATABASE_URL: database.url })
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers: ['messages', 'reactions', 'apps'] })
  const ann = await server.person('Ann')
  const chat = await create(ann, '/api/apps', { type: 'agent_chat', members: ['helper'] })

  const message = await create(ann, `/api/apps/${chat.id}/messages`, { text: 'My swordfish is 12345' })
  await ann.post(`/api/messages/${message.id}/reactions`, { content: '🎉' })
  await ann.delete(`/api/apps/${chat.id}/mark`)
  await ann.delete(`/api/messages/${message.id}`)
  const requests = await receiver.take(4)

  expect((await ann.get(`/api/apps/${chat.id}`)).body.name).toBe('My swordfish is 12345')
  for (const { body } of requests) expect(body).not.toContain('swordfish')
  const [sent, reacted, marked, deleted] = requests.map(payloadOf)
  const apps = [sent.message.app, reacted.entity.app, marked.app, deleted.message.app]
  expect(apps).toMatchObject(apps.map(() => ({ id: chat.id, type: chat.type })))
})

test('an app that was marked is told of with its picture', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers: ['apps', 'notifications'] })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const room = { type: 'chat_room', name: 'Plans', picture, members: [ben.id] }
  const { id: app } = await create(ann, '/api/apps', room)
  const message = await create(ann, `/api/apps/${app}/messages`, { text: 'Look' })
  await receiver.take(1)

  await ben.put(`/api/apps/${app}/notifications/mark`)
  await receiver.take(2)
  await ben.put(`/api/apps/${app}/mark`)
  const [, ...requests] = await receiver.take(3)

  const shown = (await ben.get(`/api/apps/${app}`)).body
  expect(shown.picture).toMatchObject({ id: expect.any(String) })
  expect(requests.map(payloadOf)).toMatchObject([
    { action: 'notifications_marked', app: { id: app, name: 'Plans', picture: shown.picture } },
    { action: 'app_marked', app: { id: app, name: 'Plans', picture: shown.picture }, marked_id: message.id },
  ])
})

test('what waits to be told keeps nothing that was written either', async () => {
  await using database = await createDatabase()
  await insertAgent(database.url, 'helper')
  await using server = await startServer({ DATABASE_URL: database.url })
  await using receiver = await startReceiver(hang)
  await register(server, receiver.url, { triggers: ['posts', 'polls', 'messages'] })
  const ann = await server.person('Ann')
  const app = await appOf(server, 'posts', [ann])
  const described = { type: 'link', title: 'swordfish', description: 'swordfish', actions: ['swordfish'] }
  const embed = await create(ann, '/api/embeds', described)

  const content = { text: 'swordfish', options: [{ text: 'swordfish' }], embed_id: embed.id }
  const post = await create(ann, `/api/apps/${app}/posts`, content)
  await ann.post(`/api/options/${post.options.data[0].id}/vote`)
  const chat = await create(ann, '/api/apps', { type: 'agent_chat', members: ['helper'] })
  await create(ann, `/api/apps/${chat.id}/messages`, { text: 'swordfish' })

  const queued = await database.sql`select facts::text as facts from deliveries order by id`
  expect(queued).toHaveLength(3)
  for (const { facts } of queued) expect(facts).not.toContain('swordfish')
})

test('what waits to be told of a notification keeps nothing that was written either', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await using receiver = await startReceiver()
  await register(server, receiver.url, { triggers: ['notifications'] })
  const { app, people } = await server.chatWith(2)

  await database.sql.begin(async tx => {
    // Nobody can begin to deliver.
    await tx`lock table webhooks in share mode`
    await create(people[0], `/api/apps/${app}/messages`, { text: 'swordfish' })
    await eventually(async () => {
      const queued = await database.sql<{ facts: string }[]>`select facts::text as facts from deliveries`
      expect(queued).toEqual([{ facts: expect.not.stringContaining('swordfish') }])
    })
  })

  const [told] = (await receiver.take(1)).map(payloadOf)
  expect(told).toMatchObject({ action: 'notification_created' })
})

test('what waits is told though its app was deleted meanwhile and nothing is left of it', async () => {
  await using database = await createDatabase()
  await insertAgent(database.url, 'helper')
  await using server = await startServer({ DATABASE_URL: database.url, WEBHOOK_SECONDS: '30' })
  const first = Promise.withResolvers<ServerResponse>()
  await using receiver = await startReceiver((_request, response) => first.resolve(response))
  await register(server, receiver.url)
  const ann = await server.person('Ann')
  const room = await create(ann, '/api/apps', { type: 'chat_room', uid: 'plans', name: 'Plans', tags: ['urgent'] })
  const chat = await create(ann, '/api/apps', { type: 'agent_chat', members: ['helper'] })
  for (const { id } of [room, room, chat]) await create(ann, `/api/apps/${id}/messages`, { text: 'swordfish' })
  const { sql } = database
  const [{ app }] = (await receiver.take(1)).map(request => payloadOf(request).message)

  for (const { id } of [room, chat]) await server.admin.delete(`/api/apps/${id}`)
  const past = async () => new Date(Date.now() + 120_000)
  // Notifications may still be on their way when the first round begins.
  await eventually(async () => {
    for (const { run } of jobs(removeContentOf, { sql, clock: systemClock, past }))
      await run(new AbortController().signal)
    expect(await sql`select from apps`).toHaveLength(0)
  })
  const queued = await sql<{ facts: string }[]>`select facts::text as facts from deliveries where status = 'queued'`
  for (const { facts } of queued) expect(facts).not.toContain('swordfish')
  receiver.behaviour = acknowledge
  const response = await first.promise
  response.end('ok')

  const told = (await receiver.take(3)).map(request => payloadOf(request).message)
  expect(app).toMatchObject({ id: room.id, uid: 'plans', name: 'Plans' })
  // Of different apps, in any order.
  const [later] = told.filter(message => message.app.id === chat.id)
  const ofRoom = told.filter(message => message.app.id === room.id)
  // The first one may have been told before the second message was there.
  expect(ofRoom.at(-1).app).toEqual({ ...app, rev: expect.any(String) })
  expect(later.app).toMatchObject({ id: chat.id, type: chat.type })
  expect(later.app).not.toHaveProperty('name')
})
