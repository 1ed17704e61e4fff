import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer, type Person } from '../support/server.ts'

type Level = 'none' | 'read' | 'write' | 'admin' | 'key'

/** In the order of the columns of docs/permissions.md. */
const levels: Level[] = ['none', 'read', 'write', 'admin', 'key']

interface Place {
  app: string
  /** A message by somebody else, one by the caller where they may write, and somebody to be added. */
  theirs: string
  newcomer: string
}

type Operation = [name: string, run: (one: Client, place: Place) => ReturnType<Client['get']>]

const operations: Operation[] = [
  ['see it', (one, { app }) => one.get(`/api/apps/${app}`)],
  ['see its members', (one, { app }) => one.get(`/api/apps/${app}/members`)],
  ['list its messages', (one, { app }) => one.get(`/api/apps/${app}/messages`)],
  ['read a message', (one, { theirs }) => one.get(`/api/messages/${theirs}`)],
  ['write', (one, { app }) => one.post(`/api/apps/${app}/messages`, { text: 'hi' })],
  ['rename it', (one, { app }) => one.patch(`/api/apps/${app}`, { name: 'New' })],
  ['open it', (one, { app }) => one.patch(`/api/apps/${app}`, { access: 'none' })],
  ['add somebody', (one, { app, newcomer }) => one.put(`/api/apps/${app}/members/${newcomer}`, { access: 'read' })],
  [
    'change the access of somebody',
    (one, { app, newcomer }) => one.put(`/api/apps/${app}/members/${newcomer}`, { access: 'admin' }),
  ],
  ['remove somebody', (one, { app, newcomer }) => one.delete(`/api/apps/${app}/members/${newcomer}`)],
  ['edit what others wrote', (one, { theirs }) => one.patch(`/api/messages/${theirs}`, { text: 'x' })],
  ['trash what others wrote', (one, { theirs }) => one.post(`/api/messages/${theirs}/trash`)],
  ['restore what others wrote', (one, { theirs }) => one.post(`/api/messages/${theirs}/restore`)],
  ['delete what others wrote', (one, { theirs }) => one.delete(`/api/messages/${theirs}`)],
  ['pin it', (one, { app }) => one.put(`/api/apps/${app}/pin`)],
  ['archive it', (one, { app }) => one.put(`/api/apps/${app}/archive`)],
  ['mark it', (one, { app }) => one.put(`/api/apps/${app}/mark`)],
  ['unmark it', (one, { app }) => one.delete(`/api/apps/${app}/mark`)],
  ['type in it', (one, { app }) => one.put(`/api/apps/${app}/typing`)],
  ['subscribe to it', (one, { app }) => one.post(`/api/apps/${app}/subscribe`)],
  ['trash it', (one, { app }) => one.post(`/api/apps/${app}/trash`)],
  ['restore it', (one, { app }) => one.post(`/api/apps/${app}/restore`)],
  ['delete it', (one, { app }) => one.delete(`/api/apps/${app}`)],
]

/** What the guide says: for each operation what becomes of it at each level, `yes` or the status of the refusal. */
function readTable(): [string, string[]][] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/permissions.md'), 'utf8')
  const rows = [...page.matchAll(/^\|(.+)\|$/gm)].map(([, row]) => row!.split('|').map(cell => cell.trim()))
  return rows.flatMap(([name, ...cells]) => (/^(?:yes|\d{3})$/.test(cells[0] ?? '') ? [[name!, cells]] : []))
}

test('what somebody may do follows from their access: 404 for what they cannot see, 403 for what they may not', async () => {
  await using server = await startServer()
  const [owner, newcomer] = [await server.person('Owner'), await server.person('Newcomer')]
  const table: Record<string, string[]> = {}

  for (const level of levels) {
    // The default is more than some members have: their own access goes before it.
    const { body: app } = await owner.post('/api/apps', { type: 'chat', name: 'Chat', access: 'write' })
    const { body: message } = await owner.post(`/api/apps/${app.id}/messages`, { text: 'mine' })
    let caller: Client = server.admin
    if (level !== 'key') {
      const member = await server.person(level)
      await owner.put(`/api/apps/${app.id}/members/${member.id}`, { access: level })
      caller = member
    }
    const place: Place = { app: app.id, theirs: message.id, newcomer: newcomer.id }
    for (const [name, run] of operations) {
      const { status } = await run(caller, place)
      table[name] = [...(table[name] ?? []), status < 300 ? 'yes' : `${status}`]
      // So that the next two find it in the trash, and the last one does not.
      if (name === 'remove somebody') await owner.put(`/api/apps/${app.id}/members/${newcomer.id}`, { access: 'read' })
      if (name.startsWith('trash what')) await server.admin.post(`/api/messages/${message.id}/trash`)
      if (name === 'trash it' && status !== 204) await server.admin.post(`/api/apps/${app.id}/trash`)
      if (name === 'restore it' && status !== 204) await server.admin.post(`/api/apps/${app.id}/restore`)
    }
  }

  expect(table).toEqual(Object.fromEntries(readTable()))
})

test('permissions say what the caller may do, in single answers, lists and content', async () => {
  await using server = await startServer()
  const owner = await server.person('Owner')
  const { body: app } = await owner.post('/api/apps', { type: 'chat', access: 'read' })
  const { body: message } = await owner.post(`/api/apps/${app.id}/messages`, { text: 'hi' })
  const all = ['list', 'read', 'create', 'update', 'delete', 'admin']
  const expected: Record<string, string[]> = { read: ['list', 'read'], write: ['list', 'read', 'create'], admin: all }

  for (const [access, permissions] of Object.entries(expected)) {
    const member = await server.person(access)
    await owner.put(`/api/apps/${app.id}/members/${member.id}`, { access })
    expect((await member.get(`/api/apps/${app.id}`)).body.permissions).toEqual(permissions)
    expect((await member.get('/api/apps')).body.data[0].permissions).toEqual(permissions)
    expect((await member.get(`/api/messages/${message.id}`)).body.app.permissions).toEqual(permissions)
  }
  const visitor = await server.person('Visitor')
  expect((await visitor.get(`/api/apps/${app.id}`)).body.permissions).toEqual(['list', 'read'])
  expect((await server.admin.get(`/api/apps/${app.id}`)).body.permissions).toEqual(all)
})

test('the default access of an app counts for everybody, or for those in its directory, at once', async () => {
  await using server = await startServer()
  const [inside, outside] = [await server.person('Inside'), await server.person('Outside')]
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put(`/api/directories/acme/members/${inside.id}`)
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat', access: 'read', directory: 'acme' })
  const read = async (one: Person) => (await one.get(`/api/apps/${app.id}`)).status
  const write = async (one: Person) => (await one.post(`/api/apps/${app.id}/messages`, { text: 'hi' })).status

  expect([await read(inside), await write(inside)]).toEqual([200, 403])
  expect([await read(outside), await write(outside)]).toEqual([404, 404])

  await server.admin.patch(`/api/apps/${app.id}`, { access: 'write' })
  expect([await write(inside), await write(outside)]).toEqual([201, 404])

  await server.admin.delete(`/api/directories/acme/members/${inside.id}`)
  await server.admin.put(`/api/directories/acme/members/${outside.id}`)
  expect([await read(inside), await write(inside)]).toEqual([404, 404])
  expect([await read(outside), await write(outside)]).toEqual([200, 201])

  await server.admin.patch(`/api/apps/${app.id}`, { directory: null })
  expect([await write(inside), await write(outside)]).toEqual([201, 201])

  await server.admin.patch(`/api/apps/${app.id}`, { access: 'none' })
  expect([await read(inside), await write(outside)]).toEqual([404, 404])
})

test('people open their apps to directories that they are in, and to no others', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  for (const name of ['acme', 'globex']) await server.admin.post('/api/directories', { name })
  await server.admin.patch(`/api/users/${ann.id}`, { directories: ['acme'] })
  const { body: app } = await ann.post('/api/apps', { type: 'chat', access: 'read' })

  const own = await ann.patch(`/api/apps/${app.id}`, { directory: 'acme' })
  const other = await ann.patch(`/api/apps/${app.id}`, { directory: 'globex' })

  expect(own.status).toBe(200)
  expect([other.status, Object.keys(other.body.errors)]).toEqual([422, ['directory']])
  expect((await server.admin.get(`/api/apps/${app.id}`)).body.directory_id).toBe(own.body.directory_id)
})

test('whoever reads an app by its default access is no member of it, and keeps settings there all the same', async () => {
  await using server = await startServer()
  const [owner, visitor] = [await server.person('Owner'), await server.person('Visitor')]
  const { body: app } = await owner.post('/api/apps', { type: 'chat', access: 'write' })
  const { body: message } = await owner.post(`/api/apps/${app.id}/messages`, { text: 'hi' })

  await visitor.put(`/api/apps/${app.id}/pin`)
  expect((await visitor.get(`/api/apps/${app.id}`)).body).toMatchObject({ is_pinned: true, is_unread: true })
  await visitor.put(`/api/apps/${app.id}/mark?message_id=${message.id}`)
  expect((await visitor.get(`/api/apps/${app.id}`)).body).toMatchObject({ is_pinned: true, is_unread: false })
  await owner.post(`/api/apps/${app.id}/messages`, { text: 'more' })
  expect((await visitor.get(`/api/apps/${app.id}`)).body.is_unread).toBe(true)
  await visitor.post(`/api/apps/${app.id}/messages`, { text: 'me too' })
  expect((await visitor.get(`/api/apps/${app.id}`)).body.is_unread).toBe(false)
  expect((await visitor.get('/api/messages')).body.count).toBe('3')

  expect((await visitor.get('/api/apps')).body.count).toBe('0')
  const { body: members } = await owner.get(`/api/apps/${app.id}/members`)
  expect(members.data.map((member: { id: string }) => member.id)).toEqual([owner.id])
  expect((await visitor.delete(`/api/apps/${app.id}/members/${visitor.id}`)).status).toBe(404)
})

test('a node that was just started knows its callers from their first request on', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const owner = await server.person('Owner')
  const { body: app } = await owner.post('/api/apps', { type: 'chat', access: 'write' })
  const visitors = await Promise.all(Array.from({ length: 4 }, () => server.person('Visitor')))
  const requests: [string, string, object?][] = [
    ['PUT', 'pin'],
    ['POST', 'messages', { text: 'hi' }],
    ['PUT', 'mark'],
    ['PUT', 'typing'],
  ]

  await using fresh = await startServer({ DATABASE_URL: database.url })
  const answers = await Promise.all(
    requests.map(([method, name, body], i) =>
      fresh.request(method, `/api/apps/${app.id}/${name}`, { body, token: visitors[i]!.token }),
    ),
  )

  expect(answers.map(({ status }) => status)).toEqual([204, 201, 204, 204])
})
