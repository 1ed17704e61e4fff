import { expect, test } from 'vitest'
import { allAnswered, answersAt, answersIn, makeAgent } from '../support/agents.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const mention = (id: string) => `[Assistant](@u${id})`

test('in a private chat an agent answers every message, in a room only those that mention it', async () => {
  await using server = await startServer()
  const agent = await makeAgent(server)
  const ann = await server.person('Ann')
  const { body: pair } = await ann.post('/api/apps', { type: 'private_chat', members: ['assistant'] })
  const { body: room } = await ann.post('/api/apps', { type: 'chat_room', members: ['assistant'] })

  await ann.post(`/api/apps/${pair.id}/messages`, { text: 'No mention here' })
  await ann.post(`/api/apps/${room.id}/messages`, { text: 'Nor here' })
  const { body: asked } = await ann.post(`/api/apps/${room.id}/messages`, { text: `${mention(agent)} But here` })

  expect(await answersIn(ann, pair.id)).toHaveLength(1)
  await allAnswered(server)
  expect(await answersIn(ann, room.id)).toMatchObject([{ metadata: { reply_to: { id: asked.id } } }])
})

test('a post is answered by a comment on it, a comment on a file by one that begins with its author', async () => {
  await using server = await startServer()
  const agent = await makeAgent(server)
  const ann = await server.person('Ann')
  const { body: feed } = await ann.put('/api/apps/feed', { type: 'posts', access: 'write' })
  const { body: files } = await ann.put('/api/apps/papers', { type: 'files', access: 'write' })
  const { body: blob } = await upload(ann, { name: 'notes.txt', content: 'Some notes' })
  const { body: file } = await ann.post(`/api/apps/${files.id}/files`, { blob_id: blob.id })

  const { body: post } = await ann.post(`/api/apps/${feed.id}/posts`, { text: `${mention(agent)} what now?` })
  await ann.post(`/api/files/${file.id}/comments`, { text: `${mention(agent)} and this?` })

  const [onPost] = await answersAt(ann, `/api/posts/${post.id}/comments`)
  const [onFile] = await answersAt(ann, `/api/files/${file.id}/comments`)
  expect(onPost.parent).toEqual({ id: post.id, type: 'post' })
  expect(onFile.parent).toEqual({ id: file.id, type: 'file' })
  expect(onFile.text).toMatch(new RegExp(`^\\[Ann\\]\\(@u${ann.id}\\) Assistant works`))
  expect(onFile.html).toContain(`data-eid="u${ann.id}"`)
})

test('each of two agents that are mentioned answers, and what agents write is answered by nobody', async () => {
  await using server = await startServer()
  const first = await makeAgent(server)
  const second = await makeAgent(server, { uid: 'other', name: 'Other' })
  const ann = await server.person('Ann')
  const { body: room } = await ann.post('/api/apps', { type: 'chat_room', members: ['assistant', 'other'] })
  const both = `${mention(first)} [Other](@u${second})`

  await ann.post(`/api/apps/${room.id}/messages`, { text: `${both} hello [Ann](@u${ann.id})` })
  await answersIn(ann, room.id)
  await answersIn(ann, room.id, { agent: 'other' })
  await server.admin.post(`/api/apps/${room.id}/messages`, { text: `${both} by a key` })
  const { access_token } = (await server.admin.post(`/api/users/${second}/tokens`)).body
  await server.request('POST', `/api/apps/${room.id}/messages`, { body: { text: both }, token: access_token })
  await allAnswered(server)

  expect((await server.admin.get('/api/runs')).body.count).toBe('2')
  const [answer] = await answersIn(ann, room.id)
  expect(answer.html).not.toContain(`data-eid="u${second}"`)
})

test('an edit that adds a mention is answered once, and further edits are not', async () => {
  await using server = await startServer()
  const agent = await makeAgent(server)
  const ann = await server.person('Ann')
  const { body: room } = await ann.post('/api/apps', { type: 'chat_room', members: ['assistant'] })
  const { body: message } = await ann.post(`/api/apps/${room.id}/messages`, { text: 'Hello' })

  for (const text of [`Hello ${mention(agent)}`, 'Hello', `Hello again ${mention(agent)}`]) {
    expect((await ann.patch(`/api/messages/${message.id}`, { text })).status).toBe(200)
  }
  await ann.post(`/api/messages/${message.id}/trash`)
  await ann.post(`/api/messages/${message.id}/restore`)
  await allAnswered(server)

  expect((await server.admin.get('/api/runs')).body.count).toBe('1')
})

test('an agent that an edit does not mention any more before its turn comes does not answer', async () => {
  await using server = await startServer()
  const agent = await makeAgent(server, { model: 'script' })
  const ann = await server.person('Ann')
  const { body: room } = await ann.post('/api/apps', { type: 'chat_room', members: ['assistant'] })

  const { body: message } = await ann.post(`/api/apps/${room.id}/messages`, {
    text: `[Assistant [ops]](@u${agent})\nwait 2`,
  })
  const { body: later } = await ann.post(`/api/apps/${room.id}/messages`, { text: `${mention(agent)} Hello` })
  await ann.patch(`/api/messages/${later.id}`, { text: 'Hello `[Assistant](@u1)`' })
  await allAnswered(server)

  const { body: runs } = await server.admin.get('/api/runs')
  const states = runs.data.map(({ item, state }: { item: { id: string }; state: string }) => [item.id, state])
  expect(Object.fromEntries(states)).toEqual({ [message.id]: 'done', [later.id]: 'cancelled' })
})

test('an agent that may not write, or is in the trash, does not answer', async () => {
  await using server = await startServer()
  const agent = await makeAgent(server)
  const gone = await makeAgent(server, { uid: 'gone', name: 'Gone' })
  const ann = await server.person('Ann')
  const { body: lobby } = await ann.put('/api/apps/lobby', { type: 'chat', access: 'write' })
  await ann.put(`/api/apps/${lobby.id}/members/${agent}`, { access: 'read' })
  await server.admin.post(`/api/agents/${gone}/trash`)

  await ann.post(`/api/apps/${lobby.id}/messages`, { text: `${mention(agent)} [Gone](@u${gone})` })

  await allAnswered(server)
  expect((await server.admin.get('/api/runs')).body.count).toBe('0')
})

test('an agent whose provider is not configured says so once, without details', async () => {
  await using server = await startServer()
  await server.admin.post('/api/agents', {
    uid: 'claude',
    name: 'Claude',
    provider: 'anthropic',
    model: 'secret-model',
  })
  const ann = await server.person('Ann')
  const { body: chat } = await ann.post('/api/apps', { type: 'agent_chat', members: ['claude'] })

  await ann.post(`/api/apps/${chat.id}/messages`, { text: 'Hello?' })

  const [answer] = await answersIn(ann, chat.id, { agent: 'claude' })
  expect(answer).toMatchObject({
    text: 'I cannot answer at the moment.',
    metadata: { error: 'provider_not_configured' },
  })
  expect(JSON.stringify(answer)).not.toContain('secret-model')
  await allAnswered(server)
  expect((await server.admin.get('/api/runs')).body).toMatchObject({
    count: '1',
    data: [{ state: 'failed', error: 'provider_not_configured', reply: { id: answer.id } }],
  })
})
