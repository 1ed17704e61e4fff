import { expect, test } from 'vitest'
import { sharedLogId } from '../../src/log/events.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

const numbers = Array.from({ length: 60 }, (_, at) => at)

test('users that are made at once are all made, whichever of them are refused', async () => {
  await using server = await startServer()

  // Every third has the uid of the one before it, some have a username that is taken, some a directory that is not there.
  const uidOf = (at: number) => `user-${at - (at % 3 === 2 ? 1 : 0)}`
  const bodyOf = (at: number) => ({
    uid: uidOf(at),
    name: `User ${at}`,
    ...(at % 10 === 3 && { username: 'shared' }),
    ...(at % 10 === 7 && { directories: ['nowhere'] }),
  })
  const answers = await Promise.all(numbers.map(at => server.admin.post('/api/users', bodyOf(at))))

  for (const [at, { status, body }] of answers.entries()) {
    if (status === 201) expect(body).toMatchObject({ uid: uidOf(at), name: `User ${at}` })
    else expect(status).toBe(422)
  }
  const made = answers.filter(({ status }) => status === 201)
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(made.length)
  // One of each pair with one uid, one of those with the shared username, and nobody in a directory that is not there.
  const wanted = new Set(numbers.filter(at => at % 10 !== 7 && at % 10 !== 3).map(uidOf))
  const named = new Set(made.map(({ body }) => body.uid))
  for (const uid of wanted) expect(named).toContain(uid)
  expect(made.filter(({ body }) => body.username === 'shared')).toHaveLength(1)
  expect((await server.admin.get('/api/users?agent=false&count_only=true')).body).toMatchObject({
    count: String(made.length),
  })
})

test('what is made at once stands in one history, each change once', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })

  const users = await Promise.all(numbers.map(at => server.admin.post('/api/users', { uid: `user-${at}` })))

  const log = await database.sql<{ rev: number; prev: number; entity_id: number }[]>`
    select rev, prev, entity_id from events where app_id = ${sharedLogId} and type = 'user_created' order by rev`
  expect(new Set(log.map(row => String(row.entity_id)))).toEqual(new Set(users.map(({ body }) => body.id)))
  for (const [at, { prev }] of log.entries()) if (at > 0) expect(prev).toBe(log[at - 1]!.rev)
})

test('tokens that are issued at once belong each to its user; for unknown and trashed ones there are none', async () => {
  await using server = await startServer()
  await Promise.all(numbers.map(at => server.admin.post('/api/users', { uid: `user-${at}` })))
  await server.admin.post('/api/users/user-5/trash')

  const uids = numbers.flatMap(at => [`user-${at}`, `nobody-${at}`])
  const tokens = await Promise.all(uids.map(uid => server.admin.post(`/api/users/${uid}/tokens`, {})))

  for (const [at, { status, body }] of tokens.entries()) {
    const uid = uids[at]!
    if (uid === 'user-5' || uid.startsWith('nobody')) {
      expect(status).toBe(404)
      continue
    }
    const self = await server.request('GET', '/api/user', { headers: { authorization: `Bearer ${body.access_token}` } })
    expect(self.body).toMatchObject({ uid })
  }
})

test('apps that are made at once have each its own members, in their order, and one private chat a pair', async () => {
  await using server = await startServer()
  await Promise.all(numbers.map(at => server.admin.post('/api/users', { uid: `user-${at}` })))
  const uidsOf = (at: number) => [0, 1, 2].map(step => `user-${(at * 7 + step * 11) % 60}`)

  const rooms = await Promise.all(
    numbers.map(at => server.admin.post('/api/apps', { type: 'chat', uid: `room-${at}`, members: uidsOf(at) })),
  )
  const chats = await Promise.all(
    numbers.map(at =>
      server.admin.post('/api/apps', { type: 'private_chat', members: [`user-${at % 5}`, `user-${10 + (at % 5)}`] }),
    ),
  )

  for (const [at, { status, body }] of rooms.entries()) {
    expect(status).toBe(201)
    const { data } = (await server.admin.get(`/api/apps/${body.id}/members`)).body
    expect(data.map(({ uid }: { uid: string }) => uid).sort()).toEqual(uidsOf(at).sort())
  }
  expect(new Set(chats.map(({ body }) => body.id)).size).toBe(5)
  const taken = await Promise.all(
    numbers.map(() => server.admin.post('/api/apps', { type: 'chat', uid: 'one', members: ['user-1'] })),
  )
  expect(taken.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(taken.filter(({ status }) => status === 422)).toHaveLength(numbers.length - 1)
})
