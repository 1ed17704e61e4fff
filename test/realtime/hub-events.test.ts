import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { create } from '../support/content.ts'
import { joinHub, type HubClient } from '../support/hub.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

describe('what clients of the hub are told', () => {
  let server: Server
  let ann: Person
  let ben: Person
  /** What Ann and Ben hear: he does things, and is to be told of them as well as she is. */
  let anns: HubClient
  let bens: HubClient
  beforeAll(async () => {
    server = await startServer()
    ;[ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  })
  beforeEach(async () => {
    anns = await joinHub(server.url, { token: () => ann.token })
    bens = await joinHub(server.url, { token: () => ben.token })
  })
  afterEach(() => Promise.all([anns[Symbol.asyncDispose](), bens[Symbol.asyncDispose]()]))
  afterAll(() => server[Symbol.asyncDispose]())

  const userOf = ({ id, uid }: Person) => ({ id: Number(id), uid, name: expect.any(String) })
  /** What every event has, whatever it tells. */
  const shared = (action: string, actor: object) => ({ id: expect.any(Number), action, actor })

  /** Both hear under the name what the actor did, and nothing else that they listen to. */
  async function heardByBoth(name: string, actor: Person): Promise<Body> {
    const [heard, same] = [await anns.hear(name), await bens.hear(name)]
    expect(heard).toMatchObject(shared(name.replace(/^a\d+:/, ''), userOf(actor)))
    expect(heard.id).toBeGreaterThan(0)
    expect(same).toEqual(heard)
    return heard
  }

  async function bothSubscribe(...names: string[]): Promise<void> {
    for (const hub of [anns, bens]) for (const name of names) expect(await hub.subscribe(name)).toBe(true)
  }

  /** An app that Ann made, in which Ben may write. */
  async function appOf(type: string, fields: object = {}): Promise<{ id: number; path: string }> {
    const { id } = await create(ann, '/api/apps', { type, members: [ben.id], ...fields })
    return { id: Number(id), path: `/api/apps/${id}` }
  }

  const blobOf = async (who: Person, content: string) => (await upload(who, { name: 'a.txt', content })).body.id

  test('a message comes whole, from people and agents alike', async () => {
    const { body: bot } = await server.admin.post('/api/agents', {
      uid: 'bot',
      name: 'Bot',
      provider: 'openai',
      model: 'x',
    })
    const { body: botToken } = await server.admin.post('/api/users/bot/tokens')
    const { id, path } = await appOf('chat', { uid: 'wire-chat', members: [ben.id, bot.id] })
    const name = `a${id}:message_created`
    await bothSubscribe(name)
    const blob = await blobOf(ben, 'notes')

    const sent = await create(ben, `${path}/messages`, { text: 'Hi', blobs: [blob], options: [{ text: 'Yes' }] })
    const { message } = await heardByBoth(name, ben)
    await server.request('POST', `${path}/messages`, { body: { text: 'Beep' }, token: botToken.access_token })
    const answered = await anns.hear(name)

    expect(message).toMatchObject({
      id: Number(sent.id),
      app: { id, uid: 'wire-chat' },
      text: 'Hi',
      html: '<p>Hi</p>',
      plain: 'Hi',
      created_at: expect.stringMatching(/Z$/),
      created_by: userOf(ben),
      attachments: { count: 1, data: [{ name: 'a.txt', size: 5, created_at: expect.any(String) }] },
      options: { count: 1, data: [{ text: 'Yes', votes: { count: 0 } }] },
    })
    const agent = { id: Number(bot.id), uid: 'bot', name: 'Bot', is_agent: true }
    expect(answered).toMatchObject({ actor: agent, message: { created_by: agent, text: 'Beep' } })
  })

  test.each([
    ['message', 'chat'],
    ['post', 'posts'],
    ['comment', 'comments'],
  ])('a reaction to a %s is told when it is given and when it is taken back', async (type, kind) => {
    const { id, path } = await appOf(kind)
    const item = await create(ann, `${path}/${type}s`, { text: 'Well?' })
    const [added, removed] = [`a${id}:reaction_added`, `a${id}:reaction_removed`]
    await bothSubscribe(added, removed)

    await ben.post(`/api/${type}s/${item.id}/reactions`, { content: '👍' })
    const told = [await heardByBoth(added, ben)]
    await ben.delete(`/api/${type}s/${item.id}/reactions`, {})
    told.push(await heardByBoth(removed, ben))

    const entity = { id: Number(item.id), type }
    expect(told).toMatchObject([
      { entity, reaction: '👍' },
      { entity, reaction: '👍' },
    ])
  })

  test('a read marker is told with its place and time, and without them when it is gone', async () => {
    const { id, path } = await appOf('chat_room')
    const message = await create(ann, `${path}/messages`, { text: 'Read me' })
    const name = `a${id}:app_marked`
    await bothSubscribe(name)

    await ben.put(`${path}/mark?messageId=${message.id}`)
    const set = await heardByBoth(name, ben)
    await ben.delete(`${path}/mark`)
    const gone = await heardByBoth(name, ben)

    expect(set).toMatchObject({ app: { id }, marked_id: Number(message.id), marked_at: expect.stringMatching(/Z$/) })
    expect(gone).toMatchObject({ app: { id } })
    expect([gone.marked_id, gone.marked_at]).toEqual([undefined, undefined])
  })

  test('who types is told with the app', async () => {
    const { id, path } = await appOf('chat')
    const name = `a${id}:typing`
    await bothSubscribe(name)

    expect((await ben.put(`${path}/typing`, {})).status).toBeLessThan(300)

    expect(await heardByBoth(name, ben)).toMatchObject({ entity: { id, type: 'app' } })
  })

  test('a new name and new members of a room are told to those who are in it', async () => {
    const { id, path } = await appOf('chat_room')
    const kim = await server.person('Kim')
    const [updated, added] = [`a${id}:app_updated`, `a${id}:member_added`]
    await bothSubscribe(updated, added)

    await ben.patch(path, { name: 'Lobby' })
    const renamed = await heardByBoth(updated, ben)
    await ben.put(`${path}/members`, [{ id: Number(kim.id), access: 'write' }])
    const joined = await heardByBoth(added, ben)

    expect(renamed.app).toMatchObject({ id, name: 'Lobby' })
    expect(joined).toMatchObject({ app: { id }, member: { id: Number(kim.id), name: 'Kim', access: 'write' } })
  })

  test('the name of a room that has none is told to each as they see it', async () => {
    const { id, path } = await appOf('chat_room', { name: 'Lobby' })
    const updated = `a${id}:app_updated`
    await bothSubscribe(updated)

    await ben.patch(path, { name: null })
    const [heard, other] = [await anns.hear(updated), await bens.hear(updated)]
    await ben.patch(path, { name: 'Hall' })
    const renamed = await heardByBoth(updated, ben)

    expect(heard).toMatchObject({ ...shared('app_updated', userOf(ben)), app: { id, name: 'Ben' } })
    expect(other).toEqual({ ...heard, app: { ...heard.app, name: 'Ann' } })
    expect(renamed.app).toMatchObject({ id, name: 'Hall' })
    expect([...anns.told, ...bens.told]).toEqual([])
  })

  test('an upsert that changes nothing is told to nobody', async () => {
    const app = { type: 'chat', name: 'Quiet' }
    const { id } = (await ann.put('/api/apps/quiet', app)).body
    await ben.put('/api/apps/quiet', app)
    const [updated, created] = [`a${id}:app_updated`, `a${id}:message_created`]
    await bothSubscribe(updated, created)

    for (const one of [ann, ben, ann]) await one.put('/api/apps/quiet', app)
    await create(ann, '/api/apps/quiet/messages', { text: 'Now' })

    await heardByBoth(created, ann)
    expect([...anns.told, ...bens.told].filter(({ name }) => name === updated)).toEqual([])
  })

  test('posts, and comments wherever they are made, are told with where they belong', async () => {
    const [feed, folder, wall] = [await appOf('posts'), await appOf('files'), await appOf('comments')]
    const file = await create(ann, `${folder.path}/files`, { blob_id: await blobOf(ann, 'text') })
    await bothSubscribe(`a${feed.id}:post_created`, ...[feed, folder, wall].map(({ id }) => `a${id}:comment_created`))

    const post = await create(ben, `${feed.path}/posts`, { text: 'News' })
    const published = await heardByBoth(`a${feed.id}:post_created`, ben)
    const parents = [
      { app: feed, path: `/api/posts/${post.id}`, parent: { id: Number(post.id), type: 'post' } },
      { app: folder, path: `/api/files/${file.id}`, parent: { id: Number(file.id), type: 'file' } },
      { app: wall, path: wall.path, parent: undefined },
    ]

    expect(published.post).toMatchObject({ id: Number(post.id), app: { id: feed.id }, created_by: userOf(ben) })
    for (const { app, path, parent } of parents) {
      const made = await create(ben, `${path}/comments`, { text: 'Good' })
      const { comment } = await heardByBoth(`a${app.id}:comment_created`, ben)
      expect(comment).toMatchObject({ id: Number(made.id), app: { id: app.id }, html: '<p>Good</p>' })
      expect(comment.parent).toEqual(parent && { ...parent, comments: { count: 1 } })
    }
  })

  test('files are told of as they are added, changed, thrown away, brought back and deleted', async () => {
    const { id, path } = await appOf('files')
    const events = ['file_created', 'file_updated', 'file_trashed', 'file_restored', 'file_deleted']
    await bothSubscribe(...events.map(event => `a${id}:${event}`))
    const hear = async (event: string) => (await heardByBoth(`a${id}:${event}`, ben)).file

    const file = await create(ben, `${path}/files`, { blob_id: await blobOf(ben, 'one') })
    const told = [await hear('file_created')]
    await ben.post(`${path}/files`, { blob_id: await blobOf(ben, 'two'), replace: true })
    told.push(await hear('file_updated'))
    await ben.patch(`/api/files/${file.id}`, { name: 'b.txt' })
    told.push(await hear('file_updated'))
    await ben.post(`/api/files/${file.id}/versions/${file.rev}/restore`)
    told.push(await hear('file_updated'))
    await ben.post(`/api/files/${file.id}/trash`)
    told.push(await hear('file_trashed'))
    await ben.post(`/api/files/${file.id}/restore`)
    told.push(await hear('file_restored'))
    await ben.delete(`/api/files/${file.id}`)
    told.push(await hear('file_deleted'))

    expect(told.map(({ id, name }) => [id, name])).toEqual(
      ['a.txt', 'a.txt', 'b.txt', 'b.txt', 'b.txt', 'b.txt', undefined].map(name => [Number(file.id), name]),
    )
    expect([...anns.told, ...bens.told]).toEqual([])
  })

  test('members hear of a conversation that begins, of its messages, and who joins it of that', async () => {
    const kim = await server.person('Kim')
    await using kims = await joinHub(server.url, { token: () => kim.token })
    const names = ['app_created', 'message_created', 'member_added']
    await bothSubscribe(...names)
    for (const name of names) await kims.subscribe(name)

    const { id, path } = await appOf('chat_room')
    const begun = await heardByBoth('app_created', ann)
    const { id: message } = await create(ben, `${path}/messages`, { text: 'Hi' })
    const written = await heardByBoth('message_created', ben)
    const toldBefore = kims.told.slice()
    await ann.put(`${path}/members`, [{ id: Number(kim.id), access: 'write' }])
    const joined = await kims.hear('member_added')

    expect(begun.app).toMatchObject({ id })
    expect(written.message).toMatchObject({ id: Number(message), app: { id }, created_by: userOf(ben) })
    expect(toldBefore).toEqual([])
    expect(joined).toMatchObject({
      ...shared('member_added', userOf(ann)),
      app: { id },
      member: { id: Number(kim.id) },
    })
  })

  test('whose read marker moved hears of it wherever they are, and the others do not', async () => {
    const { id, path } = await appOf('chat', { access: 'read' })
    const message = await create(ann, `${path}/messages`, { text: 'Read me' })
    await bothSubscribe('app_marked', `a${id}:message_created`)

    await ben.put(`${path}/mark`)
    const told = [await bens.hear('app_marked')]
    await ben.delete(`${path}/mark`)
    told.push(await bens.hear('app_marked'))
    await create(ann, `${path}/messages`, { text: 'Again' })
    await heardByBoth(`a${id}:message_created`, ann)

    const mark = { ...shared('app_marked', userOf(ben)), app: expect.objectContaining({ id }) }
    expect(told).toMatchObject([{ ...mark, marked_id: Number(message.id) }, mark])
    expect(told[1]).not.toHaveProperty('marked_id')
    // Neither is she told, nor anybody of the marker that moved because she wrote.
    expect([...anns.told, ...bens.told]).toEqual([])
  })

  test('who is notified hears of it, whole, and of what becomes of it', async () => {
    const names = ['notification_created', 'notification_updated', 'notifications_marked']
    const { id, path } = await appOf('chat_room')
    await bothSubscribe(...names)

    const message = await create(ann, `${path}/messages`, { text: `Look, [Ben](@u${ben.id})` })
    // What was done before may be notified of only now.
    const isAbout = ({ notification }: Body) => notification?.link?.id === Number(message.id)
    const made = await bens.hear('notification_created', isAbout)
    await ben.put(`/api/notifications/${made.notification.id}/mark`)
    const read = await bens.hear('notification_updated', isAbout)
    await ben.delete(`/api/notifications/${made.notification.id}/mark`)
    const unread = await bens.hear('notification_updated', isAbout)
    await ben.put('/api/notifications/mark')
    const all = await bens.hear('notifications_marked')

    const notification = {
      type: 'mention',
      action: 'message_created',
      actor: userOf(ann),
      template: '**{0}** mentioned you in a message: "{1}"',
      args: ['Ann', 'Look, @Ben'],
      link: { id: Number(message.id), type: 'message', app: { id } },
      created_at: expect.stringMatching(/Z$/),
    }
    expect(made).toMatchObject(shared('notification_created', userOf(ann)))
    expect(made.notification).toMatchObject({ ...notification, id: expect.any(Number), is_unread: true })
    expect([read, unread].map(({ notification }) => notification.is_unread)).toEqual([false, true])
    expect(all).toMatchObject(shared('notifications_marked', userOf(ben)))
    expect(all.id).toBeGreaterThan(0)
    expect(anns.told.filter(({ payload }) => isAbout(payload))).toEqual([])
  })
})
