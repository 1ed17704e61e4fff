import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { startServer, type Person } from '../support/server.ts'

test('two people who upsert the same uid at once get one app: one makes it, and all may write in it', async () => {
  await using server = await startServer()
  const people = await Promise.all(Array.from({ length: 12 }, () => server.person('Ann')))

  for (const type of ['chat', 'posts', 'files', 'comments']) {
    const answers = await Promise.all(
      people.map(person => person.put(`/api/apps/team-${type}`, { type, name: 'Team' })),
    )

    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([...people.slice(1).map(() => 200), 201])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    for (const { body } of answers) expect(body.permissions).toContain('create')
    const { body: members } = await server.admin.get(`/api/apps/team-${type}/members?take=100`)
    const levels = members.data.map((member: { access: string }) => member.access).toSorted()
    expect(levels).toEqual(['admin', ...people.slice(1).map(() => 'write')])
  }
})

test('an upsert makes an app with its members, and later leaves these alone', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]

  const made = await ann.put('/api/apps/plan', { type: 'posts', members: [ben.id], name: 'Plan', uid: 'ignored' })
  const again = await ann.put('/api/apps/PLAN', { type: 'posts', members: [eve.id], name: 'New plan' })

  expect(made).toMatchObject({ status: 201, body: { uid: 'plan', name: 'Plan', members: { count: '2' } } })
  expect(again).toMatchObject({ status: 200, body: { uid: 'plan', name: 'New plan', members: { count: '2' } } })
})

test('whoever may not change an app gets it by upsert as it is', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await ann.put('/api/apps/plan', { type: 'posts', name: 'Plan', metadata: { a: 1 } })

  const answer = await ben.put('/api/apps/plan', {
    type: 'posts',
    name: 'Mine',
    metadata: null,
    access: 'write',
    directory: 'none',
  })

  expect(answer).toMatchObject({ status: 200, body: { name: 'Plan', metadata: { a: 1 }, access: 'none' } })
  expect(answer.body).not.toHaveProperty('updated_at')
})

test('an app that was made in another way lets nobody in by upsert', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.put('/api/apps/by-key', { type: 'chat' })
  await ann.post('/api/apps', { type: 'chat', uid: 'by-post' })
  await ann.put('/api/apps/room', { type: 'chat_room' })

  for (const [uid, type] of [
    ['by-key', 'chat'],
    ['by-post', 'chat'],
    ['room', 'chat_room'],
  ]) {
    expect((await ben.put(`/api/apps/${uid}`, { type })).status).toBe(403)
    expect((await ben.get(`/api/apps/${uid}`)).status).toBe(404)
  }
})

test('an upsert of a chat makes its reader a member who reads, not more; of other types none', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  for (const [access, permissions] of [
    ['read', ['list', 'read']],
    ['write', ['list', 'read', 'create']],
  ] as const) {
    await ann.post('/api/apps', { type: 'chat', uid: `${access}-chat`, access })
    await ann.post('/api/apps', { type: 'posts', uid: `${access}-posts`, access })

    const chat = await ben.put(`/api/apps/${access}-chat`, { type: 'chat' })
    const posts = await ben.put(`/api/apps/${access}-posts`, { type: 'posts' })

    expect(chat).toMatchObject({ status: 200, body: { permissions, members: { count: '2' } } })
    expect(posts).toMatchObject({ status: 200, body: { permissions, members: { count: '1' } } })
    await ann.patch(`/api/apps/${access}-chat`, { access: 'none' })
    expect((await ben.get(`/api/apps/${access}-chat`)).body.permissions).toEqual(permissions)
  }
})

test('an app with a directory lets in by upsert who is in that directory', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put('/api/directories/acme/members', [ann.id, ben.id])

  const made = await ann.put('/api/apps/inside', { type: 'chat', directory: 'acme' })
  const joined = await ben.put('/api/apps/inside', { type: 'chat', directory: 'acme' })
  const refused = await eve.put('/api/apps/inside', { type: 'chat', directory: 'acme' })

  expect([made.status, joined.status, refused.status]).toEqual([201, 200, 403])
  expect(joined.body.permissions).toContain('create')
})

test('whoever was removed can come back by upsert, unless their access was set to none', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await ann.put('/api/apps/plan', { type: 'chat' })
  await ben.put('/api/apps/plan', { type: 'chat' })

  await ann.delete(`/api/apps/plan/members/${ben.id}`)
  const back = await ben.put('/api/apps/plan', { type: 'chat' })
  await ann.put(`/api/apps/plan/members/${ben.id}`, { access: 'none' })
  const left = await ben.delete(`/api/apps/${back.body.id}/members/${ben.id}`)
  const shut = await ben.put('/api/apps/plan', { type: 'chat' })

  expect([back.status, left.status, shut.status]).toEqual([200, 404, 403])
})

test('in the trash an app is changed by the upserts of its administrators, stays there, and lets nobody in', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = [await server.person('Ann'), await server.person('Ben'), await server.person('Eve')]
  await ann.put('/api/apps/plan', { type: 'chat' })
  await ben.put('/api/apps/plan', { type: 'chat' })
  await ann.post('/api/apps/plan/trash')

  const changed = await ann.put('/api/apps/plan', { type: 'chat', name: 'Plan' })
  const byKey = await server.admin.put('/api/apps/plan', { type: 'chat', description: 'Old' })
  const others = await Promise.all([ben, eve].map(one => one.put('/api/apps/plan', { type: 'chat' })))

  expect(changed).toMatchObject({ status: 200, body: { name: 'Plan', is_trashed: true } })
  expect(byKey).toMatchObject({ status: 200, body: { name: 'Plan', description: 'Old', is_trashed: true } })
  expect(others.map(({ status }) => status)).toEqual([403, 403])
})

test('upserting, deleting and upserting at once always ends with an app or without one', async () => {
  await using server = await startServer()
  const people = await Promise.all(Array.from({ length: 4 }, () => server.person('Ann')))

  for (let round = 0; round < 10; round++) {
    const { body: before } = await people[0]!.put('/api/apps/flux', { type: 'chat' })
    const answers = await Promise.all([
      ...people.map(person => person.put('/api/apps/flux', { type: 'chat' })),
      server.admin.delete(`/api/apps/${before.id}`),
    ])

    // Whoever comes too late to see the app between the upsert and its answer finds nothing.
    for (const { status } of answers) expect([200, 201, 204, 404]).toContain(status)
    expect(answers.at(-1)!.status).toBe(204)
    const { status } = await people[0]!.put('/api/apps/flux', { type: 'chat' })
    expect([200, 201]).toContain(status)
  }
})

test('what cannot be a uid is refused as the path of an upsert', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  for (const path of ['123', '0', '-1', 'a%20b', 'tab%09', '..%2f', 'a%2Fb', '%252e', 'true', 'x'.repeat(257)]) {
    const { status, body } = await ann.put(`/api/apps/${path}`, { type: 'chat' })
    expect([path, status, Object.keys(body.errors ?? {})]).toEqual([path, 422, ['uid']])
  }
  for (const path of ['%F0%9F%98%80', "x';drop", '-2', '1.5', '__proto__', 'constructor']) {
    const { status, body } = await ann.put(`/api/apps/${path}`, { type: 'chat' })
    expect([path, status, body.uid]).toEqual([path, 201, decodeURIComponent(path)])
    expect((await ann.get(`/api/apps/${path}`)).body.id).toBe(body.id)
  }
})

test('a setting keeps upserts from letting anybody in, also into apps that were made before', async () => {
  await using database = await createDatabase()
  await using open = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await open.person('Ann'), await open.person('Ben')]
  await ann.put('/api/apps/before', { type: 'chat' })

  await using shut = await startServer({ DATABASE_URL: database.url, UPSERTS_JOIN: 'false' })
  const put = (uid: string, { token }: Person) =>
    shut.request('PUT', `/api/apps/${uid}`, { body: { type: 'chat' }, token })
  const made = await put('after', ann)
  const answers = [await put('before', ben), await put('after', ben), await put('before', ann)]

  expect([made.status, ...answers.map(({ status }) => status)]).toEqual([201, 403, 403, 200])
})

test('an upsert of a user or an agent that names null as uid leaves the one in the path', async () => {
  await using server = await startServer()
  const agent = { name: 'Bot', provider: 'openai', model: 'x' }
  const put = (path: string, body: object) => server.admin.put(path, { ...body, uid: null })

  for (const [path, body] of [
    ['/api/users/ann', { name: 'Ann' }],
    ['/api/agents/bot', agent],
  ] as const) {
    const made = await put(path, body)
    const again = await put(path, body)

    expect([made.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual(made.body)
  }
})

test('an upsert does not look at what its caller may not change', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await ann.put('/api/apps/plan', { type: 'posts' })
  const given = { type: 'posts', picture: '99999999' }

  const joined = await ben.put('/api/apps/plan', given)
  const later = await ben.put('/api/apps/plan', { ...given, name: 'Mine' })
  const byOwner = await ann.put('/api/apps/plan', given)

  expect([joined.status, later.status, byOwner.status]).toEqual([200, 200, 422])
  expect(later.body).not.toHaveProperty('name')
})
