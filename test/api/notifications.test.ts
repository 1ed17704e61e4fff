import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { count, heard } from '../support/notifications.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

test('a message in a private chat notifies the other person, and nobody else', async () => {
  await using server = await startServer()
  const [ann, ben] = await Promise.all([server.person('Ann *Lee*'), server.person('Ben')])
  const { body: chat } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })

  const { body: message } = await ann.post(`/api/apps/${chat.id}/messages`, { text: 'Is **this** on?\n\n_Yes_' })

  const [notification] = await heard(ben, 1)
  expect(notification).toEqual({
    id: expect.stringMatching(/^\d+$/),
    type: 'activity',
    action: 'message_created',
    actor: { id: ann.id, uid: ann.uid, name: 'Ann *Lee*' },
    user: { id: ben.id, uid: ben.uid, name: 'Ben' },
    template: 'New message from **{0}**: "{1}"',
    args: ['Ann *Lee*', 'Is this on? Yes'],
    text: 'New message from **Ann \\*Lee\\***: "Is this on? Yes"',
    html: '<p>New message from <strong>Ann *Lee*</strong>: "Is this on? Yes"</p>',
    plain: 'New message from Ann *Lee*: "Is this on? Yes"',
    link: { id: message.id, type: 'message', app: { id: chat.id, type: chat.type, kind: 'private_chat' } },
    created_at: message.created_at,
    is_unread: true,
  })
  expect((await ben.get(`/api/notifications/${notification.id}`)).body).toEqual(notification)
  expect((await ann.get(`/api/notifications/${notification.id}`)).status).toBe(404)
  expect((await ann.get('/api/notifications')).body).toMatchObject({ count: '0' })
})

test('a message in a room notifies those who are subscribed to it and have not read it', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(4)
  const [ann, ben, eve, kim] = people
  await server.admin.patch(`/api/apps/${app}`, { name: 'Plans' })
  await kim.post(`/api/apps/${app}/unsubscribe`)

  await ann.post(`/api/apps/${app}/messages`, { text: `Hello [Ben](@u${ben.id})` })
  await eve.post(`/api/apps/${app}/messages`, { text: 'Good morning' })

  const [second, first] = await heard(ben, 2)
  expect(first).toMatchObject({ type: 'mention', template: '**{0}** mentioned you in a message: "{1}"' })
  expect(second).toMatchObject({
    type: 'activity',
    template: '**{0}** sent a message in **{1}**: "{2}"',
    args: ['Eve', 'Plans', 'Good morning'],
  })
  await heard(ann, 1)
  // Whoever writes has read what came before.
  await eventually(async () => expect(await count(eve, '&unread=true')).toBe('0'))
  expect(await count(kim)).toBe('0')
})

test('a message without a word notifies like any other, and so do those after it', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { body: picture } = await upload(ann, { name: 'garden.png', content: 'not quite' })

  await ann.post(`/api/apps/${app}/messages`, { blobs: [picture.id] })
  expect((await heard(ben, 1))[0].args).toEqual(['Ann', 'Ann', ''])
  await ann.post(`/api/apps/${app}/messages`, { options: [{ text: 'Yes' }] })
  await ann.post(`/api/apps/${app}/messages`, { text: 'What do you think?' })

  await eventually(async () => expect((await heard(ben, 1))[0].args).toEqual(['Ann', '3', 'Ann', 'What do you think?']))
})

test('an edit notifies only whom it newly mentions', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await feed(server)
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, { text: `Hello [Ben](@u${ben.id})` })
  await heard(ben, 1)

  await ann.patch(`/api/posts/${post.id}`, { text: `Hello [Ben](@u${ben.id}) and [Eve](@u${eve.id})` })

  expect((await heard(eve, 1))[0]).toMatchObject({
    type: 'mention',
    action: 'post_updated',
    template: '**{0}** mentioned you in a post: "{1}"',
  })
  expect(await count(ben)).toBe('1')
})

test('a mention that edits add and remove notifies once, and is taken back while it is unread', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await feed(server)
  const plain = 'Hello'
  const toBen = `Hello [Ben \\[ops\\]](@u${ben.id})`
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, { text: toBen })
  const { body: comment } = await eve.post(`/api/posts/${post.id}/comments`, { text: plain })
  await heard(ben, 1)
  // Everything before it has been processed when Eve hears of it.
  let others = 0
  const processed = async () => {
    await ann.post(`/api/apps/${app}/posts`, { text: `[Eve](@u${eve.id})` })
    await heard(eve, ++others)
  }

  for (let times = 0; times < 10; times++)
    for (const text of [plain, toBen]) await ann.patch(`/api/posts/${post.id}`, { text })
  await ann.patch(`/api/posts/${post.id}`, { text: plain })
  await processed()
  expect(await count(ben)).toBe('0')

  await eve.patch(`/api/comments/${comment.id}`, { text: toBen })
  const [mention] = await heard(ben, 1)
  expect(mention).toMatchObject({ type: 'mention', action: 'comment_updated', link: { id: comment.id } })
  expect(mention.plain).toContain('Hello @Ben [ops]')

  await ben.put(`/api/notifications/${mention.id}/mark`)
  for (const text of [plain, toBen, plain, toBen]) await eve.patch(`/api/comments/${comment.id}`, { text })
  await processed()
  expect(await heard(ben, 1)).toMatchObject([{ id: mention.id, is_unread: false }])

  await ben.delete(`/api/notifications/${mention.id}/mark`)
  await eve.post(`/api/comments/${comment.id}/trash`)
  await eventually(async () => expect(await count(ben)).toBe('0'))
  await eve.post(`/api/comments/${comment.id}/restore`)
  await heard(ben, 1)
  await eve.patch(`/api/comments/${comment.id}`, { text: plain })
  await eventually(async () => expect(await count(ben)).toBe('0'))
})

test('a post notifies the subscribers of its feed; who is mentioned in it is told of that alone', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await feed(server)
  await ben.post(`/api/apps/${app}/subscribe`)
  await eve.post(`/api/apps/${app}/subscribe`)

  await ann.post(`/api/apps/${app}/posts`, { text: `See [Eve](@u${eve.id})` })

  expect((await heard(ben, 1))[0]).toMatchObject({
    action: 'post_created',
    template: '**{0}** posted in **{1}**: "{2}"',
    args: ['Ann', 'news', 'See @Eve'],
    link: { type: 'post', app: { uid: 'news' } },
  })
  expect(await heard(eve, 1)).toMatchObject([{ type: 'mention' }])
})

test('a comment on a post notifies its author and those who commented before', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await feed(server)
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, { text: 'News' })

  await ben.post(`/api/posts/${post.id}/comments`, { text: 'Good' })
  const { body: comment } = await eve.post(`/api/posts/${post.id}/comments`, { text: 'Very' })

  const ofAnn = await heard(ann, 2)
  expect(ofAnn.map(one => [one.template, one.args])).toEqual([
    ['**{0}** replied to your post: "{1}"', ['Eve', 'Very']],
    ['**{0}** replied to your post: "{1}"', ['Ben', 'Good']],
  ])
  const [ofBen] = await heard(ben, 1)
  expect(ofBen.template).toBe('**{0}** replied to a post: "{1}"')
  expect(ofBen.link).toMatchObject({ type: 'comment', id: comment.id, parent: { type: 'post', id: post.id } })
  expect(await count(eve)).toBe('0')
})

test('a new file notifies the subscribers of its app, and new content those of the file', async () => {
  await using server = await startServer()
  const [ann, ben] = await Promise.all([server.person('Ann'), server.person('Ben')])
  const { body: app } = await ann.post('/api/apps', { type: 'files', name: 'Plans', members: [ben.id] })
  const add = async (person: Person, replace: boolean) => {
    const { body: blob } = await upload(person, { name: 'plan.txt', content: 'a plan' })
    return person.post(`/api/apps/${app.id}/files`, { blob_id: blob.id, replace })
  }

  const { body: file } = await add(ben, false)
  await add(ann, true)
  await ann.patch(`/api/files/${file.id}`, { tags: ['draft'] })

  expect((await heard(ann, 1))[0]).toMatchObject({
    action: 'file_created',
    template: '**{0}** added *{1}* to **{2}**',
    args: ['Ben', 'plan.txt', 'Plans'],
    link: { id: file.id, type: 'file' },
  })
  expect((await heard(ben, 1))[0]).toMatchObject({ action: 'file_updated', args: ['Ann', 'plan.txt'] })
})

test('reactions of one person are one notification, which goes with them while it is unread', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'Lunch?' })
  const react = (content: string) => ben.post(`/api/messages/${message.id}/reactions`, { content })

  await react('👍')
  const [first] = await heard(ann, 1)
  await react('🎉')
  const updated = await eventually(async () => {
    const { body } = await ann.get('/api/notifications')
    expect(body.data[0]).toMatchObject({ args: ['Ben', '🎉', 'Lunch?'] })
    return body
  })
  await ben.delete(`/api/messages/${message.id}/reactions`)

  expect(first).toMatchObject({
    type: 'reaction',
    action: 'reaction_added',
    template: '**{0}** reacted {1} to your message: "{2}"',
    args: ['Ben', '👍', 'Lunch?'],
  })
  expect(updated).toMatchObject({ count: '1', data: [{ id: first.id, is_unread: true }] })
  expect(updated.data[0].updated_at).toBeDefined()
  await heard(ann, 0)
})

test('a notification of a reaction that was read stays when the reaction is taken back', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'Lunch?' })
  await ben.post(`/api/messages/${message.id}/reactions`, { content: '👍' })
  const [reaction] = await heard(ann, 1)
  await ann.put('/api/notifications/mark')

  await ben.delete(`/api/messages/${message.id}/reactions`)
  await ben.post(`/api/apps/${app}/messages`, { text: 'Yes' })

  await eventually(async () => expect(await count(ann, '&unread=true')).toBe('1'))
  const listed = await heard(ann, 2)
  expect(listed[1]).toMatchObject({ id: reaction.id, type: 'reaction' })
})

test('votes on a poll are told together while that is unread, and taken back with the vote', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(5)
  const [ann, ...voters] = people
  const poll = { text: 'When?', options: [{ text: 'Now' }, { text: 'Later' }] }
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, poll)
  const [now, later] = message.options.data
  const told = async (template: string, args: string[]) =>
    eventually(async () => {
      const { body } = await ann.get('/api/notifications')
      expect(body).toMatchObject({ count: '1', data: [{ action: 'vote_added', template, args }] })
      return body.data[0].id
    })

  await voters[0]!.post(`/api/options/${now.id}/vote`)
  const id = await told('**{0}** voted on your poll', ['Ben'])
  await voters[1]!.post(`/api/options/${now.id}/vote`)
  await told('**{0}** and **{1}** voted on your poll', ['Eve', 'Ben'])
  await voters[2]!.post(`/api/options/${now.id}/vote`)
  await voters[3]!.post(`/api/options/${now.id}/vote`)
  await voters[0]!.post(`/api/options/${later.id}/vote`)
  const same = await told('**{0}** and {1} others voted on your poll', ['Member 4', '3'])
  await voters[3]!.post(`/api/options/${now.id}/vote`)
  await told('**{0}**, **{1}** and **{2}** voted on your poll', ['Kim', 'Eve', 'Ben'])

  expect(same).toBe(id)
})

test('what was told of votes goes with the options that an edit removes', async () => {
  await using server = await startServer()
  const { app, ann, ben, eve } = await feed(server)
  const poll = { text: 'When?', options: [{ text: 'Now' }, { text: 'Later' }] }
  const { body: post } = await ann.post(`/api/apps/${app}/posts`, poll)
  const [now, later] = post.options.data
  const told = (args: string[]) =>
    eventually(async () => {
      const { body } = await ann.get('/api/notifications')
      expect(body).toMatchObject({ count: '1', data: [{ action: 'vote_added', args, is_unread: true }] })
    })
  await ben.post(`/api/options/${now.id}/vote`)
  await told(['Ben'])
  await eve.post(`/api/options/${later.id}/vote`)
  await told(['Eve', 'Ben'])

  await ann.patch(`/api/posts/${post.id}`, { options: [{ id: later.id, text: 'Later' }] })
  await told(['Eve'])
  await ann.patch(`/api/posts/${post.id}`, { options: [] })

  await heard(ann, 0)
})

test('a reaction and a vote that are taken back while their author has no access are not told of afterwards', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const [ann, ben] = people
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { options: [{ text: 'Yes' }] })
  const vote = () => ben.post(`/api/options/${message.options.data[0].id}/vote`)
  const admit = (access: string) => server.admin.put(`/api/apps/${app}/members/${ann.id}`, { access })
  await ben.post(`/api/messages/${message.id}/reactions`, { content: '👍' })
  await vote()
  await heard(ann, 2)

  await admit('none')
  await ben.delete(`/api/messages/${message.id}/reactions`)
  await vote()

  await heard(ann, 0)
})

/** A feed in which three people may write. */
async function feed({ admin, person }: Server): Promise<{ app: string; ann: Person; ben: Person; eve: Person }> {
  const [ann, ben, eve] = await Promise.all([person('Ann'), person('Ben'), person('Eve')])
  const { body } = await admin.post('/api/apps', { type: 'posts', uid: 'news', members: [ann.id, ben.id, eve.id] })
  return { app: body.id, ann, ben, eve }
}
