import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { kitOf, shapes, type Kit } from '../support/kit.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

describe('what the UI kit asks for about notifications', () => {
  let server: Server
  let ann: Person
  let ben: Person
  let here: Kit
  let there: Kit
  let directory: string
  let feed: Body
  let chat: Body
  beforeAll(async () => {
    server = await startServer()
  })
  // Ben is mentioned in a post of a feed in a directory, reacted to there, and sent a message.
  beforeEach(async () => {
    ;[ann, ben] = [await server.person('Ann'), await server.person('Ben')]
    ;[here, there] = [kitOf(ann), kitOf(ben)]
    directory = `acme-${ann.id}`
    await server.admin.post('/api/directories', { name: directory })
    await server.admin.put(`/api/directories/${directory}/members`, [ann.id, ben.id])
    const uid = `feed-${ann.id}`
    feed = await here.put(`/api/apps/${uid}`, { type: 'posts', name: 'News', directory })
    await there.put(`/api/apps/${uid}`, { type: 'posts', name: 'News', directory })
    await here.post(`/api/apps/${feed.id}/posts`, { text: `Hi [Ben](@u${ben.id})`, blobs: [], options: [] })
    const post = await there.post(`/api/apps/${feed.id}/posts`, { text: 'Mine', blobs: [], options: [] })
    await here.post(`/api/posts/${post.id}/reactions`, { content: '👍' })
    chat = await here.post('/api/apps', { type: 'private_chat', members: [Number(ben.id)] })
    await here.post(`/api/apps/${chat.id}/messages`, { text: 'Hello', blobs: [], options: [] })
    await eventually(async () => expect(await unread()).toBe(3))
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const unread = async (place = '/api/notifications', query = '') =>
    (await there.get(`${place}?type=&count_only=true&unread=true${query}`)).count

  test('the list holds them newest first, each with what to show and where to go', async () => {
    const all = (await there.list('/api/notifications?skip=0&type=')).map(item => shapes.Notification.parse(item))
    const tabs = ['activity', 'mention', 'reaction'].map(async type => {
      const items = await there.list(`/api/notifications?skip=0&type=${type}`)
      return items.map(item => item.template)
    })

    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort((a, b) => b - a))
    expect(await Promise.all(tabs)).toEqual([
      ['New message from **{0}**: "{1}"'],
      ['**{0}** mentioned you in a post: "{1}"'],
      ['**{0}** reacted {1} to your post: "{2}"'],
    ])
    const mention = all.find(({ type }) => type === 'mention')
    expect(mention).toMatchObject({
      action: 'post_created',
      actor: { id: Number(ann.id), name: 'Ann' },
      args: ['Ann', 'Hi @Ben'],
      link: { type: 'post', app: { id: feed.id, uid: feed.uid, type: feed.type } },
      is_unread: true,
    })
    expect(await there.get(`/api/apps/${mention!.link!.app!.id}`)).toMatchObject({ id: feed.id })
  })

  test('they are counted and listed by app and by directory as well', async () => {
    const ofApp = `/api/apps/${feed.id}/notifications`

    expect([await unread(ofApp), await unread('/api/notifications', `&directory=${directory}`)]).toEqual([2, 2])
    expect(await there.list(`${ofApp}?skip=0&type=mention`)).toHaveLength(1)
    expect(await there.list(`/api/notifications?skip=0&type=&directory=${directory}`)).toHaveLength(2)
  })

  test('one is read with a click and unread again, all up to the highest that was loaded at once', async () => {
    const [newest, , oldest] = await there.list('/api/notifications?skip=0&type=')

    await there.put(`/api/notifications/${newest.id}/mark`)
    expect([await unread(), (await there.list('/api/notifications?skip=0&type='))[0].is_unread]).toEqual([2, false])
    await there.remove(`/api/notifications/${newest.id}/mark`)
    expect(await unread()).toBe(3)
    await there.put(`/api/notifications/mark?id=${oldest.id}`)
    expect(await unread()).toBe(2)
    await there.put(`/api/notifications/mark?id=${newest.id}`)
    expect(await unread()).toBe(0)
  })

  test('all of an app, or of a directory, are read at once, with or without a last one', async () => {
    await there.put(`/api/apps/${chat.id}/notifications/mark`)
    expect([await unread(), await unread(`/api/apps/${feed.id}/notifications`)]).toEqual([2, 2])
    const [newest] = await there.list(`/api/notifications?skip=0&type=&directory=${directory}`)
    await there.put(`/api/directories/${directory}/notifications/mark?id=${newest.id}`)
    expect(await unread()).toBe(0)
  })
})
