import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { kitOf, shapes, type Kit } from '../support/kit.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

const guid = {
  posts: '5ebfa152-de85-48da-82dd-30a1b560c313',
  comments: '88f96a08-c6c1-4eac-a0bd-5bf8fba1a3fd',
  files: '523edd88-4bbf-4547-b60f-2859a6d2ddc1',
}

describe('what the UI kit asks for about posts, comments and polls', () => {
  let server: Server
  let ann: Person
  let ben: Person
  let here: Kit
  let there: Kit
  /** The feed of each test, in which both write. */
  let uid: string
  let app: number
  beforeAll(async () => {
    server = await startServer()
  })
  beforeEach(async () => {
    ;[ann, ben] = [await server.person('Ann'), await server.person('Ben')]
    ;[here, there] = [kitOf(ann), kitOf(ben)]
    uid = `feed-${ann.id}`
    app = await join(uid, guid.posts)
  })
  afterAll(() => server[Symbol.asyncDispose]())

  /** Both load a component with this uid. */
  async function join(uid: string, type: string): Promise<number> {
    await there.put(`/api/apps/${uid}`, { type })
    return (await here.put(`/api/apps/${uid}`, { type })).id
  }

  const publish = (from: Kit, text: string, more: object = {}) =>
    from.post(`/api/apps/${app}/posts`, { text, blobs: [], options: [], ...more })
  const details = 'order_by=id+desc&out=details&skip=0'

  test('a feed of one app repeats its uid as a filter, and shows whole posts with what hangs on them', async () => {
    const blob = await there.upload('a.txt', 'text')
    const post = await publish(there, 'News', { blobs: [blob.id], options: [{ text: 'Yes' }, { text: 'No' }] })
    await here.post(`/api/posts/${post.id}/reactions`, { content: '👍' })
    await here.post(`/api/posts/${post.id}/comments`, { text: 'Good', blobs: [], options: [] })

    const { data, start, end, count } = await here.get(`/api/apps/${app}/posts?app=${uid}&${details}`)

    expect([start, end, count]).toEqual([0, 1, 1])
    expect(shapes.Post.parse(data[0])).toMatchObject({
      id: post.id,
      app: { id: app, uid },
      text: 'News',
      plain: 'News',
      created_by: { id: Number(ben.id), name: 'Ben' },
      attachments: { count: 1, data: [{ name: 'a.txt', parent: { id: post.id, type: 'post' } }] },
      options: { count: 2, data: [{ text: 'Yes', votes: { count: 0 } }, { text: 'No' }] },
      reactions: { count: 1, data: [{ content: '👍', created_by: { id: Number(ann.id) } }] },
      comments: { count: 1 },
    })
    expect(data[0]).not.toHaveProperty('updated_at')
    // What single reads say is what lists say.
    expect(await here.get(`/api/posts/${post.id}`)).toEqual(data[0])
    expect(await here.list(`/api/apps/${app}/posts?app=${uid}-other&${details}`)).toEqual([])
  })

  test('new posts are counted from the newest known one, and right after posting from the beginning of time', async () => {
    const [first] = [await publish(there, 'One'), await publish(there, 'Two')]
    const count = (query: string) =>
      here.get(`/api/apps/${app}/posts?app=${uid}&order_by=id+desc&count_only=true${query}`)

    expect(await count('')).toEqual({ count: 2 })
    expect(await count(`&after=${first.id}`)).toEqual({ count: 1 })
    expect(await count(`&after=-${Date.now()}`)).toEqual({ count: 2 })
    expect(await count(`&after=${-(2n ** 63n)}`)).toEqual({ count: 2 })
  })

  test('a feed of several apps, or of whom one follows, is read and counted in one go', async () => {
    const other = await join(`${uid}-2`, guid.posts)
    const [one] = [await publish(there, 'One about cats')]
    const two = await here.post(`/api/apps/${other}/posts`, { text: 'Two', blobs: [], options: [] })
    const ids = async (query: string) => (await here.list(`/api/posts?${query}&${details}`)).map(({ id }) => id)

    expect(await ids(`app=${uid}&app=${uid}-2`)).toEqual([two.id, one.id])
    expect(await ids(`app=${uid}&app=${uid}-2&q=cats`)).toEqual([one.id])
    expect(await here.get(`/api/posts?app=${uid}&app=${uid}-2&order_by=id+desc&count_only=true`)).toEqual({ count: 2 })
    await here.post(`/api/users/${ben.id}/follow`)
    expect(await ids('following=true')).toEqual([one.id])
  })

  test('an edit keeps, adds and removes what it says, and only then a post was edited', async () => {
    const [old, fresh] = [await here.upload('old.txt', 'old'), await here.upload('new.txt', 'new')]
    const { body: meeting } = await ann.post('/api/meetings', { join_url: 'https://zoom.us/j/123' })
    const post = await publish(here, 'Draft', {
      blobs: [old.id],
      options: [{ text: 'A' }, { text: 'B' }],
      meeting_id: Number(meeting.id),
    })
    const [a] = post.options.data
    await there.post(`/api/options/${a.id}/vote`)

    const edited = await here.patch(`/api/posts/${post.id}`, {
      text: 'Final',
      blobs: [fresh.id],
      attachments: post.attachments.data.map(({ id }: Body) => id),
      options: [
        { id: a.id, text: 'A!' },
        { id: null, text: 'C' },
      ],
      embed_id: null,
    })
    const bare = await here.patch(`/api/posts/${post.id}`, { text: 'Bare', blobs: [], attachments: [], options: [] })

    expect(shapes.Post.parse(edited)).toMatchObject({
      text: 'Final',
      updated_at: expect.any(String),
      attachments: { data: [{ name: 'old.txt' }, { name: 'new.txt' }] },
      options: {
        data: [
          { id: a.id, text: 'A!', votes: { count: 1 } },
          { text: 'C', votes: { count: 0 } },
        ],
      },
      meeting: { id: Number(meeting.id), provider: 'zoom', join_url: 'https://zoom.us/j/123' },
    })
    expect(edited.options.count).toBe(2)
    expect(bare).toMatchObject({ attachments: { count: 0 }, options: { count: 0 } })
    expect((await there.ask('PATCH', `/api/posts/${post.id}`, { text: 'Mine' })).status).toBe(403)
  })

  test('a post or comment in the trash leaves the next list, and comes back undone', async () => {
    const post = await publish(here, 'Oops')
    const comment = await there.post(`/api/posts/${post.id}/comments`, { text: 'Hm', blobs: [], options: [] })
    const posts = () => here.list(`/api/apps/${app}/posts?app=${uid}&${details}`)
    const comments = () => here.list(`/api/posts/${post.id}/comments?order_by=id&skip=0`)

    await there.post(`/api/comments/${comment.id}/trash`)
    expect([await comments(), (await posts())[0].comments]).toEqual([[], { count: 0 }])
    await there.post(`/api/comments/${comment.id}/restore`)
    await here.post(`/api/posts/${post.id}/trash`)
    expect(await posts()).toEqual([])
    await here.post(`/api/posts/${post.id}/restore`)

    expect(await posts()).toMatchObject([{ id: post.id, comments: { count: 1 } }])
    expect(await comments()).toMatchObject([{ id: comment.id }])
  })

  test('a post is subscribed to and no longer, as its bell shows', async () => {
    const post = await publish(here, 'News')
    const isSubscribed = async (kit = there) => (await kit.get(`/api/posts/${post.id}`)).is_subscribed

    expect([await isSubscribed(here), await isSubscribed()]).toEqual([true, false])
    await there.post(`/api/posts/${post.id}/subscribe`)
    expect(await isSubscribed()).toBe(true)
    await there.post(`/api/posts/${post.id}/unsubscribe`)
    expect(await isSubscribed()).toBe(false)
  })

  test('comments come oldest first and say what they are on; those on an app name the app alone', async () => {
    const wall = await join(`${uid}-wall`, guid.comments)
    const folder = await join(`${uid}-folder`, guid.files)
    const blob = await here.upload('a.txt', 'text')
    const file = await here.post(`/api/apps/${folder}/files`, { blob_id: blob.id, replace: false })
    const post = await publish(here, 'News')
    const places = [
      { path: `/api/posts/${post.id}/comments`, app, parent: { id: post.id, type: 'post' } },
      { path: `/api/files/${file.id}/comments`, app: folder, parent: { id: file.id, type: 'file' } },
      { path: `/api/apps/${wall}/comments`, app: wall, parent: undefined },
    ]

    for (const { path, app, parent } of places) {
      const first = await there.post(path, { text: 'One', blobs: [], options: [{ text: 'Yes' }] })
      const second = await here.post(path, { text: 'Two', blobs: [], options: [] })
      const listed = await here.list(`${path}?order_by=id&skip=0`)

      expect(listed.map(({ id }) => id)).toEqual([first.id, second.id])
      const [shown] = listed.map(item => shapes.Comment.parse(item))
      expect(shown).toMatchObject({ app: { id: app }, created_by: { name: 'Ben' }, options: { count: 1 } })
      expect(shown!.parent).toEqual(parent)
      expect(await here.get(`/api/comments/${first.id}`)).toEqual(listed[0])
    }
    expect((await here.list(`/api/apps/${folder}/files?skip=0&order_by=name`))[0].comments).toEqual({ count: 2 })
  })

  test('a comment is edited and reacted to like a post', async () => {
    const post = await publish(here, 'News')
    const comment = await here.post(`/api/posts/${post.id}/comments`, { text: 'Godo', blobs: [], options: [] })

    const edited = await here.patch(`/api/comments/${comment.id}`, {
      text: 'Good',
      blobs: [],
      attachments: [],
      options: [],
    })
    await there.post(`/api/comments/${comment.id}/reactions`, { content: '🎉' })
    const shown = shapes.Comment.parse(await here.get(`/api/comments/${comment.id}`))
    const sheet = await here.list(`/api/comments/${comment.id}/reactions`)
    await there.remove(`/api/comments/${comment.id}/reactions`, {})

    expect(edited).toMatchObject({ text: 'Good', updated_at: expect.any(String) })
    const reaction = { content: '🎉', created_by: { id: Number(ben.id), name: 'Ben' } }
    expect([shown.reactions!.data, sheet]).toMatchObject([[reaction], [reaction]])
    expect(await here.get(`/api/comments/${comment.id}`)).toMatchObject({ reactions: { start: 0, end: 0, count: 0 } })
  })

  test('one vote for each user and poll: a click on another option moves it, a second one takes it back', async () => {
    const post = await publish(here, 'Which?', { options: [{ text: 'A' }, { text: 'B' }] })
    const [a, b] = post.options.data
    const votes = async () => {
      const { options } = shapes.Post.parse(await there.get(`/api/posts/${post.id}`))
      return options!.data!.map(({ has_voted, votes }) => [has_voted, votes.count])
    }

    const vote = await there.post(`/api/options/${a.id}/vote`)
    expect(shapes.Option.parse(vote)).toMatchObject({ id: a.id, has_voted: true })
    expect(await votes()).toEqual([
      [true, 1],
      [false, 0],
    ])
    await there.post(`/api/options/${b.id}/vote`)
    expect(await votes()).toEqual([
      [false, 0],
      [true, 1],
    ])
    expect(await here.get(`/api/options/${b.id}`)).toMatchObject({
      id: b.id,
      text: 'B',
      votes: { count: 1, data: [{ id: Number(ben.id), name: 'Ben' }] },
    })
    await there.post(`/api/options/${b.id}/vote`)
    expect(await votes()).toEqual([
      [false, 0],
      [false, 0],
    ])
  })

  test('a mention is an element with the name alone, for the style sheet to adorn', async () => {
    const post = await publish(here, `Hello [Ben](@u${ben.id})!`)

    expect(post).toMatchObject({ text: `Hello [Ben](@u${ben.id})!`, plain: 'Hello @Ben!' })
    expect(post.html).toMatch(new RegExp(`<span class="wy-mention" data-eid="u${ben.id}">Ben</span>`))
  })

  test('what a deleted user wrote has an author whom the kit knows, also where nobody did it', async () => {
    const post = await publish(there, 'Bye')
    const { body: made } = await server.admin.post(`/api/apps/${app}/posts`, { text: 'From the house' })
    await server.admin.delete(`/api/users/${ben.id}`)

    const posts = await here.list(`/api/apps/${app}/posts?app=${uid}&${details}`)

    expect(posts.map(item => shapes.Post.parse(item)).map(({ id, created_by }) => [id, created_by.id])).toEqual([
      [Number(made.id), 0],
      [post.id, -1],
    ])
  })

  test('where nothing can be embedded and no meeting be made, the kit is told so without being sent away', async () => {
    const refusals = await Promise.all([
      here.ask('GET', `/api/embeds?url=${encodeURIComponent('http://127.0.0.1:9/nothing')}`),
      here.ask('POST', '/x/zoom/meetings'),
    ])

    expect(refusals.map(({ status, body }) => [status, body.status])).toEqual([
      [404, 404],
      [404, 404],
    ])
  })
})
