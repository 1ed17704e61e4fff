import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callRaw, callTool, connectClient, textOf } from '../support/mcp.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const makeApp = async (type: string, more: object = {}): Promise<string> =>
  (await server.admin.post('/api/apps', { type, ...more })).body.id

describe.each(['auto', 'legacy'] as const)('a client of the official library (%s)', mode => {
  test('finds at most 20 tools in at most 12 KB, each with what it answers and whether it writes', async () => {
    const ann = await server.person()
    await using client = await connectClient(server.url, ann.token, mode)

    const { tools } = await client.listTools()

    expect(tools.length).toBeLessThanOrEqual(20)
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThanOrEqual(12 * 1024)
    for (const { outputSchema, annotations } of tools) {
      expect(outputSchema?.type).toBe('object')
      expect(annotations?.readOnlyHint).toBeTypeOf('boolean')
    }
  })

  test('reads and writes as its user', async () => {
    const {
      app,
      people: [ann, ben],
    } = await server.chatWith(2)
    await ben.post(`/api/apps/${app}/messages`, { text: 'Is the **gate** open?' })
    await using client = await connectClient(server.url, ann.token, mode)

    const before = await callTool(client, 'catch_up')
    const sent = await callTool(client, 'send_message', { app, text: 'Yes', poll: ['now', 'later'] })
    const { items } = await callTool(client, 'read_conversation', { app })
    const found = await callTool(client, 'search', { q: 'gate' })
    const voted = await callTool(client, 'vote', { type: 'message', id: sent.id, option: items[1].options[0].id })
    await callTool(client, 'react', { type: 'message', id: items[0].id, emoji: '👍' })
    await callTool(client, 'mark_read', { app })

    expect(before.unread[0].items).toEqual([
      expect.objectContaining({ author_id: Number(ben.id), text: 'Is the gate open?', cite: items[0].cite }),
    ])
    expect(before.note).toContain('data')
    expect(items.map(({ text, author_id }: { text: string; author_id: number }) => [text, author_id])).toEqual([
      ['Is the gate open?', Number(ben.id)],
      ['Yes', Number(ann.id)],
    ])
    expect(found.hits).toEqual([expect.objectContaining({ type: 'message', id: items[0].id })])
    expect(voted.options[0]).toMatchObject({ text: 'now', votes: 1 })
    expect((await ben.get(`/api/messages/${items[0].id}/reactions`)).body.count).toBe('1')
    expect((await callTool(client, 'catch_up')).unread).toEqual([])
  })

  test('makes rooms, writes posts, comments and files, and reads their text', async () => {
    const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
    await using client = await connectClient(server.url, ann.token, mode)

    const feed = await callTool(client, 'make_room', { kind: 'posts', name: 'News', members: [ben.uid] })
    const files = await callTool(client, 'make_room', { kind: 'files', name: 'Papers' })
    const post = await callTool(client, 'write_post', { app: feed.id, text: 'First' })
    const comment = await callTool(client, 'write_comment', { on: 'post', id: post.id, text: 'Second' })
    const file = await callTool(client, 'add_file', { app: files.id, name: 'plan.md', text: '# Plan\n\nPlant “trees”' })

    expect((await callTool(client, 'read_conversation', { post: post.id })).items).toEqual([
      expect.objectContaining({
        id: comment.id,
        text: 'Second',
        cite: `parley://app/${feed.id}/comment/${comment.id}`,
      }),
    ])
    expect((await callTool(client, 'list_files', {})).files).toEqual([
      expect.objectContaining({ id: file.id, name: 'plan.md' }),
    ])
    expect((await callTool(client, 'read_file', { file: file.id })).text).toContain('Plant “trees”')
    expect((await callTool(client, 'list_people', { q: 'ben' })).people).toContainEqual(
      expect.objectContaining({ id: Number(ben.id) }),
    )
    expect((await callTool(client, 'list_rooms')).rooms.map(({ id }: { id: number }) => id).toSorted()).toEqual(
      [feed.id, files.id].toSorted(),
    )
    await ben.post(`/api/posts/${post.id}/comments`, { text: `[Ann](@${ann.uid}) look` })
    await expect
      .poll(async () => (await callTool(client, 'list_notifications')).notifications)
      .toContainEqual(expect.objectContaining({ author: 'Ben', is_unread: true }))
    expect(await callTool(client, 'mark_notifications')).toEqual({ unread: 0 })
  })

  test('reads apps as resources, and has prompts to begin with', async () => {
    const {
      app,
      people: [ann],
      stranger,
    } = await server.chatWith(1)
    await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })
    await using client = await connectClient(server.url, ann.token, mode)
    await using other = await connectClient(server.url, stranger.token, mode)

    const { resources } = await client.listResources()
    const { contents } = await client.readResource({ uri: `parley://app/${app}` })
    const { messages } = await client.getPrompt({ name: 'recap', arguments: { app } })

    expect(resources.map(({ uri }) => uri)).toEqual([`parley://app/${app}`])
    expect(JSON.parse((contents[0] as { text: string }).text).items[0].text).toBe('hello')
    expect(JSON.stringify(messages)).toContain('read_conversation')
    expect((await other.listResources()).resources).toEqual([])
    await expect(other.readResource({ uri: `parley://app/${app}` })).rejects.toThrow()
  })
})

test('a call that is repeated with its id is done once', async () => {
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const call = (id: number | string, text: string) =>
    server.request('POST', '/mcp', {
      token: ann.token,
      headers: { accept: 'application/json, text/event-stream' },
      body: {
        ...{ jsonrpc: '2.0', id, method: 'tools/call' },
        params: { name: 'send_message', arguments: { app, text } },
      },
    })

  for (const [id, text] of [
    [1, 'a'],
    [1, 'a'],
    [2, 'a'],
    [1, 'b'],
  ] as const)
    expect((await call(id, text)).status).toBe(200)
  for (let n = 0; n < 2; n++) await call('8f14e45f-ceea-467e-9575-5d2b1f0a1b2c', 'c')

  const { data } = (await ann.get(`/api/apps/${app}/messages`)).body
  expect(data.map(({ text }: { text: string }) => text)).toEqual(['a', 'a', 'b', 'c'])
})

test('what it writes is in the audit log, with its person and the client', async () => {
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  await using client = await connectClient(server.url, ann.token)
  await callTool(client, 'send_message', { app, text: 'secret words' })

  const { body } = await server.admin.get(`/api/audit?action=tool_called&target_id=${ann.id}`)
  expect(body.data).toEqual([
    expect.objectContaining({
      actor: { kind: 'user' },
      target: expect.objectContaining({ type: 'user', id: ann.id }),
      after: { tool: 'send_message', client: 'desk', client_version: '7.1' },
    }),
  ])
  expect(JSON.stringify(body)).not.toContain('secret')
})

test('a refusal is told to the model, in words', async () => {
  const { app, stranger } = await server.chatWith(1)
  await using client = await connectClient(server.url, stranger.token)

  const refused = await callRaw(client, 'send_message', { app, text: 'hi' })

  expect(refused.isError).toBe(true)
  expect(textOf(refused)).toContain('not-found')
})

test('a deployment may forbid writes, or all of it', async () => {
  await using reading = await startServer({ MCP: 'read-only' })
  await using none = await startServer({ MCP: 'off' })
  const ann = await reading.person()
  await using client = await connectClient(reading.url, ann.token)

  const { tools } = await client.listTools()

  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
  expect(tools.length).toBeGreaterThan(5)
  const off = await none.request('POST', '/mcp', { token: none.key, body: {} })
  expect(off.status).toBe(404)
})

test('without a token, the answer says where tokens come from', async () => {
  await using hosted = await startServer({
    AUTH_SECRET: 'a-shared-secret-that-is-long-enough-for-tests',
    AUTH_ISSUER: 'https://login.example',
    PUBLIC_URL: 'https://chat.example',
  })
  const refused = await hosted.request('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'ping' } })
  const metadata = await hosted.request('GET', '/.well-known/oauth-protected-resource/mcp')

  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toContain(
    'resource_metadata="https://chat.example/.well-known/oauth-protected-resource/mcp"',
  )
  expect(metadata.body).toMatchObject({
    resource: 'https://chat.example/mcp',
    authorization_servers: ['https://login.example'],
  })
  const byKey = await server.request('POST', '/mcp', { token: server.key, body: {} })
  expect(byKey.status).toBe(403)
})

type Reader = Pick<Person, 'token'>

describe('what a person may not read', () => {
  const word = 'pomegranate'
  let app: string
  let ids: Record<'message' | 'post' | 'comment' | 'file' | 'feed' | 'folder', number>
  let member: Person

  /** All that tools tell one person, about everything that there is. */
  async function tellAll({ token }: Reader): Promise<string> {
    await using client = await connectClient(server.url, token)
    const { message, post, comment, file, feed, folder } = ids
    const calls: [string, object][] = [
      ['search', { q: word }],
      ['search', { q: word, app: Number(app), order: 'newest' }],
      ...[app, feed, folder].map((ref): [string, object] => ['read_conversation', { app: Number(ref) }]),
      ['read_conversation', { app: Number(app), around: message }],
      ['read_conversation', { post }],
      ['read_conversation', { file }],
      ['catch_up', {}],
      ['catch_up', { app: Number(app) }],
      ['list_rooms', {}],
      ['list_rooms', { q: word }],
      ['list_people', { app: Number(app) }],
      ['list_files', {}],
      ['list_files', { app: Number(folder) }],
      ['read_file', { file }],
      ['list_notifications', {}],
    ]
    const told = []
    for (const [name, args] of calls) told.push(textOf(await callRaw(client, name, args)))
    for (const [type, id] of Object.entries({ message, post, comment }))
      told.push(textOf(await callRaw(client, 'react', { type, id, emoji: '👍' })))
    const { resources } = await client.listResources()
    told.push(JSON.stringify(resources))
    for (const ref of [app, feed, folder])
      told.push(await client.readResource({ uri: `parley://app/${ref}` }).then(JSON.stringify, String))
    return told.join('\n')
  }

  beforeAll(async () => {
    member = await server.person('Member')
    const members = [member.id]
    app = await makeApp('chat', { name: `${word} room`, members })
    const feed = await makeApp('posts', { name: `${word} feed`, members })
    const folder = await makeApp('files', { name: `${word} folder`, members })
    const form = new FormData()
    form.set('blob', new File([`the ${word} file`], `${word}.txt`))
    const blob = (await server.admin.request('POST', '/api/blobs', { body: form })).body.id
    const at = async (path: string, body: object) => Number((await server.admin.post(path, body)).body.id)
    const post = await at(`/api/apps/${feed}/posts`, { text: word })
    ids = {
      post,
      message: await at(`/api/apps/${app}/messages`, { text: `${word} [Member](@${member.uid})` }),
      comment: await at(`/api/posts/${post}/comments`, { text: word }),
      file: await at(`/api/apps/${folder}/files`, { blob_id: blob }),
      feed: Number(feed),
      folder: Number(folder),
    }
  })

  test('a member is told', async () => {
    const told = await tellAll(member)
    expect(told).toContain(word)
    expect(told).toContain(`the ${word} file`)
  })
  test('a person who is no member is not', async () => {
    expect(await tellAll(await server.person())).not.toContain(word)
  })
  test('nor an agent that is no member, with a token of its own', async () => {
    const { id } = (
      await server.admin.post('/api/agents', { uid: 'nosy', name: 'Nosy', provider: 'openai', model: 'm' })
    ).body
    const { access_token: token } = (await server.admin.post(`/api/users/${id}/tokens`)).body
    expect(await tellAll({ token })).not.toContain(word)
  })
  test('nor who was removed', async () => {
    const removed = await server.person()
    for (const one of [app, ids.feed, ids.folder]) {
      await server.admin.put(`/api/apps/${one}/members/${removed.id}`, { access: 'write' })
      await server.admin.delete(`/api/apps/${one}/members/${removed.id}`)
    }
    expect(await tellAll(removed)).not.toContain(word)
  })
  test('who is in the directory that an app is open to is told of it, and nobody else', async () => {
    const [inside, outside] = [await server.person(), await server.person()]
    await server.admin.post('/api/directories', { name: 'grove' })
    await server.admin.put(`/api/directories/grove/members/${inside.id}`)
    await server.admin.patch(`/api/apps/${app}`, { access: 'read', directory: 'grove' })
    expect(await tellAll(inside)).toContain(word)
    expect(await tellAll(outside)).not.toContain(word)
    await server.admin.patch(`/api/apps/${app}`, { access: 'none', directory: null })
    expect(await tellAll(inside)).not.toContain(word)
  })
  test('apps with metadata.mcp false are as if they were not there, for members too', async () => {
    for (const one of [app, ids.feed, ids.folder])
      await server.admin.patch(`/api/apps/${one}`, { metadata: { mcp: false } })
    expect(await tellAll(member)).not.toContain(word)
    for (const one of [app, ids.feed, ids.folder]) await server.admin.patch(`/api/apps/${one}`, { metadata: null })
    expect(await tellAll(member)).toContain(word)
  })
  test('nothing is told of the trash', async () => {
    for (const one of [app, ids.feed, ids.folder]) await server.admin.post(`/api/apps/${one}/trash`)
    expect(await tellAll(member)).not.toContain(word)
  })
})
