import { expect, test } from 'vitest'
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { callTool, connectClient } from '../support/mcp.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

/** What a client is told of, from now on. */
async function listen(client: Client, apps: string[]) {
  const told: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri))
  const stream = await client.listen({ resourceSubscriptions: apps.map(app => `parley://app/${app}`) })
  return { told, stream }
}

test('a client that is subscribed to an app is told that it has changed, whichever node that was on', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann, ben],
  } = await one.chatWith(2)
  await using client = await connectClient(one.url, ann.token)
  const { told } = await listen(client, [app])

  await ben.post(`/api/apps/${app}/messages`, { text: 'here' })
  await eventually(async () => expect(told).toEqual([`parley://app/${app}`]))
  await fetch(`${other.url}/api/apps/${app}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ben.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'there' }),
  })
  await eventually(async () => expect(told).toHaveLength(2))
  expect((await callTool(client, 'catch_up')).unread[0].items).toHaveLength(2)
})

test('nothing is told of apps that a person may not read, or not any more', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
    stranger,
  } = await server.chatWith(2)
  const own = (await server.admin.post('/api/apps', { type: 'chat_room', members: [stranger.id, ben.id] })).body.id
  await using client = await connectClient(server.url, stranger.token)
  await using left = await connectClient(server.url, ben.token)
  const strangers = await listen(client, [app, own])
  const bens = await listen(left, [app, own])
  await server.admin.delete(`/api/apps/${app}/members/${ben.id}`)

  await ann.post(`/api/apps/${app}/messages`, { text: 'secret' })
  await stranger.post(`/api/apps/${own}/messages`, { text: 'known' })

  await eventually(async () => {
    expect(strangers.told).toEqual([`parley://app/${own}`])
    expect(bens.told).toEqual([`parley://app/${own}`])
  })
})

test('a stream ends when its token is revoked, and the token opens no other', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using client = await connectClient(server.url, ann.token)
  await using other = await connectClient(server.url, ben.token)
  const { stream } = await listen(client, [app])
  const bens = await listen(other, [app])

  await server.admin.delete(`/api/users/${ann.id}/tokens`)

  await expect(stream.closed).resolves.toBe('remote')
  await expect(client.listTools()).rejects.toThrow()
  await ben.post(`/api/apps/${app}/messages`, { text: 'still here' })
  await eventually(async () => expect(bens.told).toHaveLength(1))
})

test('a client of the revision of 2025 listens on its stream, whichever node it has said to what, until its token is revoked', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann, ben],
    stranger,
  } = await one.chatWith(2)
  const second = (await one.admin.post('/api/apps', { type: 'chat_room', members: [ann.id, ben.id] })).body.id
  await using client = await connectClient(one.url, ann.token, 'legacy')
  const told: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri))
  const toldOf = (id: string) => told.filter(uri => uri === `parley://app/${id}`).length
  const post = (id: string) => ben.post(`/api/apps/${id}/messages`, { text: 'news' })

  await client.subscribeResource({ uri: `parley://app/${app}` })
  await post(app)
  await eventually(async () => expect(toldOf(app)).toBeGreaterThan(0))
  const { sessionId } = client.transport as { sessionId?: string }
  const ask = (token: string, method: string, uri: string) =>
    fetch(`${other.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json', 'mcp-session-id': sessionId! },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 9, method, params: { uri } }),
    })
  expect(await (await ask(stranger.token, 'resources/subscribe', `parley://app/${second}`)).text()).toContain('error')
  expect(await (await ask(ann.token, 'resources/subscribe', `parley://app/${second}`)).text()).toContain('"result":{}')
  await eventually(async () => expect(toldOf(second)).toBe(1))
  await post(second)
  await eventually(async () => expect(toldOf(second)).toBe(2))

  await client.unsubscribeResource({ uri: `parley://app/${app}` })
  const before = toldOf(app)
  await post(app)
  await post(second)
  await eventually(async () => expect(toldOf(second)).toBe(3))
  expect(toldOf(app)).toBe(before)

  const stream = await fetch(`${one.url}/mcp`, {
    headers: { authorization: `Bearer ${ann.token}`, accept: 'text/event-stream', 'mcp-session-id': sessionId! },
  })
  expect(stream.status).toBe(200)
  await one.admin.delete(`/api/users/${ann.id}/tokens`)
  expect(await stream.text()).toContain(`parley://app/${second}`)
})

test('a stream without a session, and a session that was ended, are none', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const headers = { accept: 'text/event-stream' }
  expect((await server.request('GET', '/mcp', { token: ann.token, headers })).status).toBe(405)
  const client = await connectClient(server.url, ann.token, 'legacy')
  await client.subscribeResource({ uri: `parley://app/${app}` })
  const { sessionId } = client.transport as { sessionId?: string }
  const stream = await fetch(`${server.url}/mcp`, {
    headers: { ...headers, authorization: `Bearer ${ann.token}`, 'mcp-session-id': sessionId! },
  })
  await (client.transport as StreamableHTTPClientTransport).terminateSession()
  await stream.text()
  await client.close()
})

test('what opens no stream counts as none', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  await using client = await connectClient(server.url, ann.token)
  for (let n = 0; n < 25; n++) await client.listen({ toolsListChanged: true }).catch(() => {})

  await expect(listen(client, [app])).resolves.toBeDefined()
})

test('two hundred clients work at once, and one user has twenty streams at most', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const clients = await Promise.all(Array.from({ length: 200 }, () => connectClient(server.url, ann.token)))
  const rooms = await Promise.all(clients.map(client => callTool(client, 'list_rooms')))
  expect(rooms.every(({ count }) => count === 1)).toBe(true)

  const streams = await Promise.all(clients.slice(0, 20).map(client => listen(client, [app])))
  await expect(listen(clients[20]!, [app])).rejects.toThrow()
  await ben.post(`/api/apps/${app}/messages`, { text: 'to all' })
  await eventually(async () => expect(streams.every(({ told }) => told.length === 1)).toBe(true))
  await Promise.all(clients.map(client => client.close()))
  await using again = await connectClient(server.url, ann.token)
  await eventually(async () => void (await listen(again, [app])))
}, 60_000)
