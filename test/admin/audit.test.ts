import { expect, test } from 'vitest'
import { addPartitions, dropPartitions } from '../../src/log/events.ts'
import type { Body } from '../support/client.ts'
import { create } from '../support/content.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServer, type Server } from '../support/server.ts'
import { payloadOf, register } from '../support/webhooks.ts'

/** What the log says, oldest first. */
async function entries({ admin }: Pick<Server, 'admin'>, filter = ''): Promise<Body[]> {
  const { status, body } = await admin.get(`/api/audit?order_by=id&take=100${filter}`)
  expect(status).toBe(200)
  return body.data ?? []
}

const actions = async (server: Server, filter = '') => (await entries(server, filter)).map(({ action }) => action)

test('what a key changes is written down: who, from where, what, before and after', async () => {
  await using server = await startServer()

  await server.admin.post('/api/users', { uid: 'ann', username: 'ann' })
  await server.admin.patch('/api/users/ann', { username: 'ann2' })

  const [made, changed] = await entries(server)
  expect(made).toMatchObject({
    actor: { kind: 'key', name: 'API_KEY' },
    ip: '127.0.0.1',
    action: 'user_created',
    target: { type: 'user', name: 'ann' },
    after: { uid: 'ann' },
  })
  expect(changed).toMatchObject({ action: 'user_updated', before: { username: 'ann' }, after: { username: 'ann2' } })
})

test('each kind of change leaves its entry', async () => {
  await using server = await startServer()
  await using receiver = await startReceiver()
  const { admin } = server
  const { body: ann } = await admin.post('/api/users', { uid: 'ann' })
  await admin.post('/api/users/ann/tokens')
  await admin.delete('/api/users/ann/tokens')
  await admin.post('/api/users/ann/trash')
  await admin.post('/api/users/ann/restore')
  await admin.post('/api/directories', { name: 'team' })
  await admin.put('/api/directories/team/members', { users: ['ann'] })
  await admin.put('/api/directories/team/members/ann')
  await admin.delete('/api/directories/team/members/ann')
  await admin.patch('/api/directories/team', { name: 'crew' })
  await admin.delete('/api/directories/crew')
  const { body: key } = await admin.post('/api/keys', { name: 'CRM' })
  await admin.patch(`/api/keys/${key.id}`, { name: 'Shop' })
  await admin.delete(`/api/keys/${key.id}`)
  const { body: hook } = await admin.post('/api/webhooks', { payload_url: receiver.url, triggers: ['posts'] })
  await admin.patch(`/api/webhooks/${hook.id}`, { is_enabled: false })
  await admin.delete(`/api/webhooks/${hook.id}`)
  await admin.post('/api/agents', { uid: 'bot', name: 'Bot', provider: 'openai', model: 'm' })
  await admin.patch('/api/agents/bot', { model: 'n' })
  await admin.post('/api/agents/bot/functions', { name: 'f', description: 'd', url: 'https://f.example' })
  await admin.delete('/api/agents/bot/functions/f')
  await admin.delete('/api/agents/bot')
  const { body: app } = await admin.post('/api/apps', { type: 'chat_room', members: ['ann'] })
  await admin.patch(`/api/apps/${app.id}`, { uid: 'garden' })
  await admin.put(`/api/apps/${app.id}/members/${ann.id}`, { access: 'read' })
  await admin.delete(`/api/apps/${app.id}/members/${ann.id}`)
  const message = await create(admin, `/api/apps/${app.id}/messages`, { text: 'hello' })
  await admin.patch(`/api/messages/${message.id}`, { text: 'hullo' })
  await admin.post(`/api/messages/${message.id}/trash`)
  await admin.post(`/api/messages/${message.id}/restore`)
  await admin.delete(`/api/messages/${message.id}`)
  await admin.post(`/api/apps/${app.id}/trash`)
  await admin.post(`/api/apps/${app.id}/restore`)
  await admin.delete(`/api/apps/${app.id}`)
  await admin.delete('/api/users/ann')

  expect(await actions(server)).toEqual([
    'user_created',
    'token_issued',
    'tokens_revoked',
    'user_trashed',
    'user_restored',
    'directory_created',
    'directory_members_added',
    'directory_members_removed',
    'directory_updated',
    'directory_deleted',
    'key_created',
    'key_updated',
    'key_revoked',
    'webhook_created',
    'webhook_updated',
    'webhook_deleted',
    'agent_created',
    'agent_updated',
    'function_added',
    'function_removed',
    'agent_trashed',
    'agent_deleted',
    'app_updated',
    'members_changed',
    'members_removed',
    'message_updated',
    'message_trashed',
    'message_restored',
    'message_deleted',
    'app_trashed',
    'app_restored',
    'app_deleted',
    'user_trashed',
    'user_deleted',
  ])
})

test('what users do themselves is not in it, nor what changes nothing or is refused', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(1)
  const before = await actions(server)

  const message = await create(people[0], `/api/apps/${app}/messages`, { text: 'mine' })
  await people[0].delete(`/api/messages/${message.id}`)
  await server.admin.patch(`/api/users/${people[0].id}`, {})
  await server.admin.post('/api/users', { uid: people[0].uid })

  expect(await actions(server)).toEqual(before)
})

test('an entry that cannot be written undoes the change', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { app } = await server.chatWith(1)
  await database.sql`alter table audit add constraint closed check (action not in ('user_created', 'app_trashed')) not valid`

  const made = await server.admin.post('/api/users', { uid: 'ann' })
  const trashed = await server.admin.post(`/api/apps/${app}/trash`)

  expect([made.status, trashed.status]).toEqual([500, 500])
  expect((await server.admin.get('/api/users/ann')).status).toBe(404)
  expect((await server.admin.get(`/api/apps/${app}`)).status).toBe(200)
})

test('nothing secret is in it, and nothing that people wrote', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { admin } = server
  const secrets = ['pass-word-1', 'pass-word-2', 'hook-secret-1', 'hook-secret-2', 'header-secret', 'path-secret']
  const texts = ['the-instructions', 'the-comment', 'the-message', 'the-edit', 'the-app-name']
  await admin.post('/api/users', { uid: 'ann', username: 'ann', password: secrets[0], comment: texts[1] })
  await admin.patch('/api/users/ann', { password: secrets[1], comment: 'other' })
  const { body: token } = await admin.post('/api/users/ann/tokens')
  const url = `https://hooks.example/${secrets[5]}`
  const { body: hook } = await admin.post('/api/webhooks', {
    payload_url: url,
    triggers: ['posts'],
    secret: secrets[2],
  })
  await admin.patch(`/api/webhooks/${hook.id}`, { secret: secrets[3] })
  const agent = { uid: 'bot', name: 'Bot', provider: 'openai', model: 'm' }
  await admin.post('/api/agents', agent)
  await admin.patch('/api/agents/bot', { instructions: texts[0] })
  const call = { name: 'f', description: 'd', url: 'https://f.example' }
  await admin.post('/api/agents/bot/functions', call)
  await admin.patch('/api/agents/bot/functions/f', { headers: { authorization: secrets[4] } })
  const { body: key } = await admin.post('/api/keys', { name: 'CRM' })
  const { body: app } = await admin.post('/api/apps', { type: 'chat_room' })
  await admin.patch(`/api/apps/${app.id}`, { name: texts[4] })
  const message = await create(admin, `/api/apps/${app.id}/messages`, { text: texts[2] })
  await admin.patch(`/api/messages/${message.id}`, { text: texts[3] })

  const [{ log }] = await database.sql<[{ log: string }]>`select string_agg(to_jsonb(a)::text, ' ') as log from audit a`
  for (const word of [...secrets, ...texts, token.access_token, key.key, server.key]) expect(log).not.toContain(word)
  expect(log).toContain('"password": "[changed]"')
  expect(log).toContain('"secret": "[changed]"')
  expect(log).toContain('"headers": "[changed]"')
})

test('signing in, signing out, and failing to are in it, and the session with what it changed', async () => {
  await using server = await startServer()
  const page = { origin: server.url, 'x-parley-admin': '1' }
  const signIn = (api_key: string) =>
    server.request('POST', '/admin/session', { body: { api_key }, headers: { ...page, 'user-agent': 'Firefox' } })

  await signIn('wys_wrong')
  const { headers } = await signIn(server.key)
  const session = { ...page, cookie: headers.get('set-cookie')!.split(';')[0]! }
  await server.request('POST', '/admin/api/users', { body: { uid: 'ann' }, headers: session })
  await server.request('DELETE', '/admin/session', { headers: session })

  const [failed, signedIn, made, signedOut] = await entries(server)
  expect(failed).toMatchObject({
    action: 'sign_in_failed',
    actor: { kind: 'nobody' },
    ip: '127.0.0.1',
    after: { agent: 'Firefox' },
  })
  expect(signedIn).toMatchObject({ action: 'signed_in', ip: '127.0.0.1', actor: { name: 'API_KEY' } })
  expect(made).toMatchObject({ action: 'user_created', session_id: signedIn.target.id, ip: '127.0.0.1' })
  expect(signedOut).toMatchObject({ action: 'signed_out', session_id: signedIn.target.id })
})

test('it is searched by action, key, target and time', async () => {
  await using server = await startServer()
  const { body: key } = await server.admin.post('/api/keys', { name: 'CRM' })
  await server.request('POST', '/api/users', { token: key.key, body: { uid: 'ann' } })
  await server.admin.post('/api/users', { uid: 'ben' })
  const [, ann] = await entries(server)
  const count = async (filter: string) => (await server.admin.get(`/api/audit?count_only=true&${filter}`)).body.count

  expect(await count('action=user_created')).toBe('2')
  expect(await count(`key=${key.id}`)).toBe('1')
  expect(await count(`target_type=user&target_id=${ann.target.id}`)).toBe('1')
  expect(await count('q=BE')).toBe('1')
  expect(await count('ip=10.0.0.1')).toBe('0')
  expect(await count('since=2126-01-01T00:00:00Z')).toBe('0')
  expect(await count('until=2126-01-01T00:00:00Z')).toBe('3')
  expect((await server.admin.get('/api/audit?action=nonsense')).status).toBe(422)
  expect((await server.admin.get('/api/audit?take=1')).body.data[0].target.name).toBe('ben')
  expect((await (await server.person()).get('/api/audit')).status).toBe(403)
})

test('all that is found can be had at once, an entry a line, which is written down too', async () => {
  await using server = await startServer()
  for (const uid of ['ann', 'ben', 'eve']) await server.admin.post('/api/users', { uid })
  await server.admin.post('/api/directories', { name: 'team' })

  const { status, headers, body } = await server.request('GET', '/api/audit?action=user_created', {
    token: server.key,
    headers: { accept: 'application/x-ndjson' },
  })

  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('application/x-ndjson')
  const lines = (body as string).trimEnd().split('\n')
  expect(lines.map(line => JSON.parse(line).target.name)).toEqual(['eve', 'ben', 'ann'])
  expect(await actions(server, '&action=audit_exported')).toHaveLength(1)
})

test('nothing in it can be changed or removed, but for what is older than its days', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await server.admin.post('/api/users', { uid: 'ann' })

  await expect(database.sql`update audit set action = 'x'`).rejects.toThrow('append-only')
  await expect(database.sql`delete from audit`).rejects.toThrow('append-only')
  await expect(database.sql`truncate audit`).rejects.toThrow('append-only')
  expect(await actions(server)).toEqual(['user_created'])
})

test('months of entries are dropped when all of their days are past, and no others', async () => {
  await using database = await createDatabase()
  const { sql } = database
  const [made, later] = [new Date('2025-01-15T12:00:00Z'), new Date('2026-02-03T12:00:00Z')]
  for (const at of [made, later]) await addPartitions(sql, at)
  for (const at of ['2025-01-31T23:59:59Z', '2025-02-01T00:00:00Z', '2026-02-03T12:00:00Z'])
    await sql`insert into audit (at, actor_kind, action) values (${at}, 'server', 'key_created')`

  await dropPartitions(sql, { eventDays: 7, auditDays: 365 }, later)

  const left = await sql<{ at: Date }[]>`select at from audit order by at`
  expect(left.map(({ at }) => at.toISOString())).toEqual(['2025-02-01T00:00:00.000Z', '2026-02-03T12:00:00.000Z'])
})

test('webhooks are told of every entry, as the log shows it: of a change that was undone there is none', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  await using receiver = await startReceiver()
  const { app } = await server.chatWith(1)
  const hook = await register(server, receiver.url, { triggers: ['audit'], secret: 'hook-secret' })
  await database.sql`alter table audit add constraint closed check (action <> 'user_created') not valid`

  expect((await server.admin.post('/api/users', { uid: 'ben' })).status).toBe(500)
  await server.admin.post('/api/keys', { name: 'CRM' })
  const message = await create(server.admin, `/api/apps/${app}/messages`, { text: 'the-text' })
  await server.admin.post(`/api/messages/${message.id}/trash`)
  await server.request('POST', '/admin/session', {
    body: { api_key: 'wys_wrong' },
    headers: { origin: server.url, 'x-parley-admin': '1' },
  })

  const told = (await receiver.take(4)).map(payloadOf)
  expect(told.map(({ entry }) => entry.action)).toEqual([
    'webhook_created',
    'key_created',
    'message_trashed',
    'sign_in_failed',
  ])
  expect(told[0]).toMatchObject({ action: 'audit_entry_created', actor: { id: '0', name: 'System' } })
  expect(told.map(({ entry }) => entry)).toEqual((await entries(server)).slice(-4))
  expect(new Set(told.map(({ id }) => id)).size).toBe(4)
  expect(JSON.stringify(told)).not.toMatch(/hook-secret|the-text|wys_wrong/)
  await server.admin.patch(`/api/webhooks/${hook.id}`, { is_enabled: false })
  await server.admin.post('/api/directories', { name: 'team' })
  const queued = async () => (await server.admin.get(`/api/webhooks/${hook.id}`)).body.queued
  await eventually(async () => expect(await queued()).toBe('0'))
})
