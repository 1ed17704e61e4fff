import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { listen } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

/** Subscribes, does what takes the right away, and lets somebody write: nothing of it must be heard. */
async function loseRight(server: Server, app: string, reader: Person, writer: Person, lose: () => Promise<unknown>) {
  await using inbox = await listen(server.url, { token: reader.token })
  await inbox.subscribe(app)

  await lose()
  await writer.post(`/api/apps/${app}/messages`, { text: 'not for you' })
  await inbox.settle()

  expect(inbox.frames.filter(frame => JSON.stringify(frame).includes('not for you'))).toEqual([])
  return (await inbox.hear('unsubscribed')).reason
}

test('whoever cannot see an app cannot subscribe to it', async () => {
  await using server = await startServer()
  const { app, stranger } = await server.chatWith(1)
  await using inbox = await listen(server.url, { token: stranger.token })

  const refused = await inbox.subscribe(app)
  const unknown = await inbox.subscribe('999999')

  expect(refused).toMatchObject({ type: 'error', status: '404', code: 'not-found', app_id: app })
  expect(unknown).toMatchObject({ type: 'error', status: '404', code: 'not-found', app_id: '999999' })
})

test('a member who is removed gets nothing from that moment on', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)

  const lose = () => server.admin.delete(`/api/apps/${app}/members/${ben.id}`)

  expect(await loseRight(server, app, ben, ann, lose)).toBe('access-lost')
})

test('a member whose access becomes none gets nothing from that moment on', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)

  const lose = () => server.admin.put(`/api/apps/${app}/members/${ben.id}`, { access: 'none' })

  expect(await loseRight(server, app, ben, ann, lose)).toBe('access-lost')
})

test('when an app is closed to the public, only its members go on getting events', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body } = await server.admin.post('/api/apps', { type: 'chat', access: 'read', members: [ann.id] })
  await using member = await listen(server.url, { token: ann.token })
  await member.subscribe(body.id)

  const lose = () => server.admin.patch(`/api/apps/${body.id}`, { access: 'none' })

  expect(await loseRight(server, body.id, ben, ann, lose)).toBe('access-lost')
  expect((await member.take(2)).map(event => event.event)).toEqual(['app_updated', 'message_created'])
})

test('when an app is trashed, no subscriber gets its events any more', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)

  const lose = () => server.admin.post(`/api/apps/${app}/trash`)

  expect(await loseRight(server, app, ben, ann, lose)).toBe('app-gone')
})

test('when an app is deleted, no subscriber gets its events any more', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)

  const lose = () => server.admin.delete(`/api/apps/${app}`)

  expect(await loseRight(server, app, ben, ann, lose)).toBe('app-gone')
})

test('a user who leaves the directory of an app gets nothing from that moment on', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: directory } = await server.admin.post('/api/directories', { name: 'staff', members: [] })
  await server.admin.patch(`/api/users/${ben.id}`, { directories: [directory.id] })
  const { body: app } = await server.admin.post('/api/apps', {
    type: 'chat',
    access: 'read',
    directory: directory.id,
    members: [ann.id],
  })

  const lose = () => server.admin.patch(`/api/users/${ben.id}`, { directories: [] })

  expect(await loseRight(server, app.id, ben, ann, lose)).toBe('access-lost')
})

test('a user who is not in the directory that an app moves to gets nothing from that moment on', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  for (const name of ['staff', 'guests']) await server.admin.post('/api/directories', { name })
  await server.admin.patch(`/api/users/${ben.id}`, { directories: ['staff'] })
  const { body: app } = await server.admin.post('/api/apps', {
    type: 'chat',
    access: 'read',
    directory: 'staff',
    members: [ann.id],
  })

  const lose = () => server.admin.patch(`/api/apps/${app.id}`, { directory: 'guests' })

  expect(await loseRight(server, app.id, ben, ann, lose)).toBe('access-lost')
})

test('a right that is lost while the client is still reading its history ends the history', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { body: first } = await ann.post(`/api/apps/${app}/messages`, { text: 'first' })
  const burst = Array.from({ length: 500 }, () => ann.post(`/api/apps/${app}/messages`, { text: 'x' }))
  await Promise.all(burst)
  await using inbox = await listen(server.url, { token: ben.token })

  const removal = server.admin.delete(`/api/apps/${app}/members/${ben.id}`)
  for (let i = 0; i < 5; i++) inbox.say({ type: 'subscribe', app_id: app, after: first.id })
  await removal
  await inbox.settle()
  const count = inbox.frames.filter(frame => frame.type === 'event').length
  await ann.post(`/api/apps/${app}/messages`, { text: 'not for you' })
  await inbox.settle()

  expect(inbox.frames.filter(frame => frame.type === 'event')).toHaveLength(count)
  expect(inbox.frames.some(frame => frame.type === 'unsubscribed' || frame.type === 'error')).toBe(true)
})

test('revoking the tokens of a user ends their sessions at once', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await using gone = await listen(server.url, { token: ann.token })
  await using other = await listen(server.url, { token: ben.token })

  await server.admin.delete(`/api/users/${ann.id}/tokens`)

  expect(await gone.closed).toBe(4401)
  await other.settle()
})

test('trashing a user ends their sessions at once', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  await using inbox = await listen(server.url, { token: ann.token })

  await server.admin.post(`/api/users/${ann.id}/trash`)

  expect(await inbox.closed).toBe(4401)
})

test('whoever was revoked in a history that is gone is let in no more, and all sessions begin anew', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const ann = await server.person('Ann')
  for (let i = 0; i < 2; i++) expect((await ann.get('/api/user')).status).toBe(200)
  await using inbox = await listen(server.url, { token: ann.token })

  await database.sql`delete from tokens`
  await database.sql`update environment set head_rev = nextval('numbers')`

  expect(await inbox.closed).toBe(1012)
  expect((await ann.get('/api/user')).status).toBe(401)
})

test('a session ends with its token, unless a fresh one takes its place', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { body: short } = await server.admin.post(`/api/users/${ann.id}/tokens`, { expires_in: 1 })
  await using ending = await listen(server.url, { token: short.access_token })
  await using renewed = await listen(server.url, { token: short.access_token })

  renewed.say({ type: 'hello', access_token: ann.token })
  await renewed.hear('welcome')

  expect(await ending.closed).toBe(4401)
  await renewed.settle()
})

test('a session cannot be handed to another user', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await using inbox = await listen(server.url, { token: ann.token })

  inbox.say({ type: 'hello', access_token: ben.token })

  expect(await inbox.closed).toBe(4403)
})
