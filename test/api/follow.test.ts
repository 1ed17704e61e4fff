import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'

test('a user follows another until it does not, and repeating changes nothing', async () => {
  await using server = await startServer()
  const [ann, ben] = await Promise.all([server.person('Ann'), server.person('Ben')])
  const isFollowed = async () => (await ann.get(`/api/users/${ben.uid}`)).body.is_followed

  const followed = [await ann.post(`/api/users/${ben.uid}/follow`), await ann.post(`/api/users/${ben.id}/follow`)]
  const after = await isFollowed()
  const ended = [await ann.post(`/api/users/${ben.uid}/unfollow`), await ann.post(`/api/users/${ben.uid}/unfollow`)]

  for (const answer of followed) expect(answer).toMatchObject({ status: 200, body: { id: ben.id, is_followed: true } })
  expect(after).toBe(true)
  for (const answer of ended) expect(answer).toMatchObject({ status: 200, body: { id: ben.id, is_followed: false } })
  expect(await isFollowed()).toBe(false)
})

test('lists of users and directories say whom the caller follows, and nothing to API keys', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(name => server.person(name)))
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put('/api/directories/acme/members', [ann!.id, ben!.id, eve!.id])
  await ann!.post(`/api/users/${ben!.id}/follow`)
  const marks = (people: { name: string; is_followed?: boolean }[]) => people.map(one => [one.name, one.is_followed])

  const users = await ann!.get('/api/users')
  const directory = await ann!.get('/api/directories/acme')
  const members = await ann!.get('/api/directories/acme/members')
  const asKey = await server.admin.get('/api/users')

  const expected = [
    ['Ann', false],
    ['Ben', true],
    ['Eve', false],
  ]
  expect(marks(users.body.data)).toEqual(expected)
  expect(marks(directory.body.members.data)).toEqual(expected)
  expect(marks(members.body.data)).toEqual(expected)
  expect(marks(asKey.body.data).map(([, mark]) => mark)).toEqual([undefined, undefined, undefined])
})

test('followers are for API keys, and whom one follows is for oneself', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(name => server.person(name)))
  await eve!.post(`/api/users/${ben!.id}/follow`)
  await ann!.post(`/api/users/${ben!.id}/follow`)
  await ann!.post(`/api/users/${eve!.id}/follow`)

  const followers = await server.admin.get(`/api/users/${ben!.uid}/followers`)
  const page = await server.admin.get(`/api/users/${ben!.uid}/followers?skip=1&take=1`)
  const following = await ann!.get(`/api/users/${ann!.uid}/following`)

  expect(followers.body).toMatchObject({ data: [{ name: 'Ann' }, { name: 'Eve' }], start: '0', end: '2', count: '2' })
  expect(page.body).toMatchObject({ data: [{ name: 'Eve' }], start: '1', end: '2', count: '2' })
  expect(following.body).toMatchObject({ data: [{ name: 'Ben', is_followed: true }, { name: 'Eve' }], count: '2' })
  expect((await ann!.get(`/api/users/${ann!.id}/following?count_only=true`)).body).toEqual({ count: '2' })
  const refused = [
    await ann!.get(`/api/users/${ben!.id}/followers`),
    await ann!.get(`/api/users/${ben!.id}/following`),
    await server.admin.get(`/api/users/${ben!.id}/following`),
    await server.admin.post(`/api/users/${ben!.id}/follow`),
    await server.admin.get('/api/users/nobody/followers'),
  ]
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 404])
})

test('agents can be followed; oneself, the special users and whoever is out of sight cannot', async () => {
  await using server = await startServer()
  const [ann, eve] = await Promise.all([server.person('Ann'), server.person('Eve')])
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put(`/api/directories/acme/members/${eve.id}`)
  await server.admin.post('/api/agents', { uid: 'bot', name: 'Bot', provider: 'openai', model: 'x' })

  const answers = [
    await ann.post('/api/users/bot/follow'),
    await ann.post(`/api/users/${ann.id}/follow`),
    await ann.post('/api/users/0/follow'),
    await ann.post(`/api/users/${eve.uid}/follow`),
    await ann.post('/api/users/nobody/follow'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([200, 422, 403, 404, 404])
  expect(answers[0]!.body).toMatchObject({ uid: 'bot', is_agent: true, is_followed: true })
})

test('following ends also where whoever is followed is out of sight, or in the trash', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(name => server.person(name)))
  for (const one of [ben!, eve!]) await ann!.post(`/api/users/${one.id}/follow`)
  await server.admin.post('/api/directories', { name: 'acme' })
  await server.admin.put(`/api/directories/acme/members/${ben!.id}`)
  await server.admin.post(`/api/users/${eve!.id}/trash`)
  const followersOf = async (id: string) => (await server.admin.get(`/api/users/${id}/followers`)).body.count

  const ended = [await ann!.post(`/api/users/${ben!.uid}/unfollow`), await ann!.post(`/api/users/${eve!.id}/unfollow`)]
  const again = await ann!.post(`/api/users/${ben!.uid}/unfollow`)

  const { id, uid } = ben!
  expect(ended[0]).toMatchObject({ status: 200, body: { id, uid, name: 'Ben', is_followed: false, is_trashed: false } })
  expect(ended[0]!.body).not.toHaveProperty('directories')
  expect(ended[1]).toMatchObject({ status: 200, body: { id: eve!.id, is_followed: false, is_trashed: true } })
  for (const { body } of ended) expect(body).not.toHaveProperty('created_at')
  expect(again.status).toBe(404)
  await server.admin.post(`/api/users/${eve!.id}/restore`)
  expect([await followersOf(id), await followersOf(eve!.id)]).toEqual(['0', '0'])
})

test('whoever is trashed leaves the lists of followers, and a deleted one for good', async () => {
  await using server = await startServer()
  const [ann, ben] = await Promise.all([server.person('Ann'), server.person('Ben')])
  await ann.post(`/api/users/${ben.id}/follow`)
  const following = async () => (await ann.get(`/api/users/${ann.id}/following`)).body.count

  await server.admin.post(`/api/users/${ben.id}/trash`)
  const whileTrashed = await following()
  await server.admin.post(`/api/users/${ben.id}/restore`)
  const restored = await following()
  await server.admin.delete(`/api/users/${ben.id}`)

  expect([whileTrashed, restored, await following()]).toEqual(['0', '1', '0'])
})

test('whoever is deleted while somebody follows them is followed, or not there', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  for (let round = 0; round < 40; round++) {
    const people = await Promise.all(['Ben', 'Eve', 'Kim'].map(server.person))
    const calls = people.flatMap(({ id, post }) => [
      ann.post(`/api/users/${id}/follow`),
      server.admin.delete(`/api/users/${id}`),
      post(`/api/users/${ann.id}/follow`),
    ])
    const statuses = (await Promise.all(calls)).map(({ status }) => status)

    expect(statuses.filter(status => ![200, 204, 401, 404].includes(status))).toEqual([])
  }
})
