import { expect, test } from 'vitest'
import { insertAgent } from '../support/agent.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

interface List {
  body: { data?: { uid: string; name: string }[] }
}

const uids = ({ body }: List) => (body.data ?? []).map(({ uid }) => uid)
const names = ({ body }: List) => (body.data ?? []).map(({ name }) => name)

test('users are listed by name without regard to case, page by page', async () => {
  await using server = await startServer()
  for (const name of ['bob', 'Carl', 'alice', 'Bob', 'dora']) {
    await server.admin.post('/api/users', { uid: `u-${name}`.replace('-B', '-2b'), name })
  }

  const first = await server.admin.get('/api/users?take=2')
  const second = await server.admin.get('/api/users?take=2&skip=2')
  const beyond = await server.admin.get('/api/users?take=2&skip=9')
  const count = await server.admin.get('/api/users?count_only=true')

  expect(names(first)).toEqual(['alice', 'bob'])
  expect(first.body).toMatchObject({ start: '0', end: '2', count: '5' })
  expect(names(second)).toEqual(['Bob', 'Carl'])
  expect(second.body).toMatchObject({ start: '2', end: '4', count: '5' })
  expect(beyond.body).toEqual({ start: '9', end: '9', count: '5' })
  expect(count.body).toEqual({ count: '5' })
})

test('users are listed in the order asked for', async () => {
  await using server = await startServer()
  for (const uid of ['b', 'a', 'c']) await server.admin.post('/api/users', { uid })
  const list = async (order: string) => uids(await server.admin.get(`/api/users?order_by=${order}`)).join('')

  const orders = await Promise.all(['id', 'id+desc', 'name%20desc', 'created_at+desc%2Cid+desc', ''].map(list))

  expect(orders).toEqual(['bac', 'cab', 'cba', 'cab', 'abc'])
})

test('a list is refused with the name of the parameter that is wrong', async () => {
  await using server = await startServer()
  const queries = {
    take: ['0', '101', 'x', '1.5', '-1'],
    skip: ['-1', 'x', '1e3'],
    order_by: ['uid', 'password_hash', 'name+up', 'id;drop'],
    trashed: ['maybe'],
    agent: ['null'],
    autocomplete: ['2'],
    count_only: ['yes'],
    q: ['x'.repeat(513)],
  }

  for (const [parameter, values] of Object.entries(queries)) {
    for (const value of values) {
      const { status, body } = await server.admin.get(`/api/users?${parameter}=${value}`)

      expect([value, status, Object.keys(body.errors)]).toEqual([value, 422, [parameter]])
    }
  }
})

test('q finds users by the beginnings of words in their names, whatever their case and accents', async () => {
  await using server = await startServer()
  await server.admin.post('/api/users', { uid: 'jose', name: 'José Ibáñez-Ruiz', nickname: 'Pepe' })
  await server.admin.post('/api/users', {
    uid: 'li.ming@acme',
    given_name: 'Ming',
    family_name: 'Li',
    email: 'ming@example.com',
    username: 'dragon7',
  })
  await server.admin.post('/api/users', { uid: 'zoe', name: 'Zoë' })
  const find = async (q: string) => uids(await server.admin.get(`/api/users?${q}`))

  expect(await find('q=JOS')).toEqual(['jose'])
  expect(await find('q=iba%C3%B1')).toEqual(['jose'])
  expect(await find('q=ruiz+jos')).toEqual(['jose'])
  expect(await find('q=pep')).toEqual(['jose'])
  expect(await find('q=zoe')).toEqual(['zoe'])
  for (const part of ['ming', 'li', 'acme', 'exam', 'dragon']) expect(await find(`q=${part}`)).toEqual(['li.ming@acme'])
  expect(await find('q=ose')).toEqual([])
  expect(await find('q=jose+ming')).toEqual([])
  expect(await find('q=jos&autocomplete=false')).toEqual([])
  expect(await find('q=jos%C3%A9&autocomplete=false')).toEqual(['jose'])
  for (const odd of ["'", '%26+%7C+%21', ':*', '%5C', '()', '%25', '%F0%9F%98%80']) {
    expect(await find(`q=${odd}`)).toHaveLength(3)
  }
})

test('a search follows the names of a user', async () => {
  await using server = await startServer()
  await server.admin.post('/api/users', { uid: 'ann', name: 'Ann' })

  await server.admin.patch('/api/users/ann', { name: 'Berta' })

  expect(uids(await server.admin.get('/api/users?q=berta'))).toEqual(['ann'])
  expect((await server.admin.patch('/api/users/ann', { uid: 'b' })).status).toBe(200)
  expect(uids(await server.admin.get('/api/users?q=ann'))).toEqual([])
})

test('users are filtered by any of some tags, by directory, and by trash for API keys', async () => {
  await using server = await startServer()
  for (const name of ['acme', 'globex']) await server.admin.post('/api/directories', { name })
  await server.admin.post('/api/users', { uid: 'a', tags: ['red'], directories: ['acme'] })
  await server.admin.post('/api/users', { uid: 'b', tags: ['blue', 'red'], directories: ['acme', 'globex'] })
  await server.admin.post('/api/users', { uid: 'c', tags: ['green'] })
  await server.admin.post('/api/users/c/trash')
  const list = async (query: string) => uids(await server.admin.get(`/api/users?${query}`)).join('')

  expect(await list('tag=blue&tag=green')).toBe('b')
  expect(await list('tag=red')).toBe('ab')
  expect(await list('directory=acme')).toBe('ab')
  expect(await list('directory=GLOBEX')).toBe('b')
  expect(await list('directory=2&tag=red')).toBe('b')
  expect(await list('directory=nowhere')).toBe('')
  expect(await list('trashed=true')).toBe('c')
  expect(await list('trashed=null&tag=green&tag=red')).toBe('abc')
  expect(await list('trashed=false')).toBe('ab')
})

test('the system user is listed only where it is asked for, the deleted user never', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')

  const plain = await server.admin.get('/api/users?system=false')
  const withSystem = await server.admin.get('/api/users?system=true')
  const forAnn = await ann.get('/api/users?system=true')

  expect(names(plain)).toEqual(['Ann'])
  expect(names(withSystem)).toEqual(['Ann', 'System'])
  expect(withSystem.body.count).toBe('2')
  expect(names(forAnn)).toEqual(['Ann', 'System'])
})

test('people without a directory see each other, people with one those who share it', async () => {
  await using server = await startServer()
  for (const name of ['acme', 'globex']) await server.admin.post('/api/directories', { name })
  const [ann, ben, eve, kim, tom] = await Promise.all(['Ann', 'Ben', 'Eve', 'Kim', 'Tom'].map(server.person))
  await server.admin.put('/api/directories/acme/members', [ben!.id, eve!.id])
  await server.admin.put('/api/directories/globex/members', [eve!.id, kim!.id])
  const seen = (person: typeof ann) => person!.get('/api/users').then(names)

  expect(await seen(ann)).toEqual(['Ann', 'Tom'])
  expect(await seen(tom)).toEqual(['Ann', 'Tom'])
  expect(await seen(ben)).toEqual(['Ben', 'Eve'])
  expect(await seen(eve)).toEqual(['Ben', 'Eve', 'Kim'])
  expect(await seen(kim)).toEqual(['Eve', 'Kim'])
  expect((await ben!.get('/api/users?count_only=true')).body).toEqual({ count: '2' })
  expect((await ben!.get(`/api/users/${eve!.id}`)).status).toBe(200)
  expect((await ben!.get(`/api/users/${kim!.uid}`)).status).toBe(404)
  expect((await ben!.get(`/api/users/${ann!.id}`)).status).toBe(404)
  expect((await ann!.get(`/api/users/${ben!.id}`)).status).toBe(404)
})

test('a user finds nobody in a directory that it is not in, not even those it sees otherwise', async () => {
  await using server = await startServer()
  for (const name of ['acme', 'globex']) await server.admin.post('/api/directories', { name })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.put('/api/directories/acme/members', [ann.id, ben.id])
  await server.admin.put('/api/directories/globex/members', [ben.id])

  expect(names(await ann.get('/api/users?directory=acme'))).toEqual(['Ann', 'Ben'])
  expect((await ann.get('/api/users?directory=globex')).body).toEqual({ start: '0', end: '0', count: '0' })
})

test('members of an app see each other while it is not trashed and lets them in', async () => {
  await using server = await startServer()
  for (const name of ['acme', 'globex']) await server.admin.post('/api/directories', { name })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.put(`/api/directories/acme/members/${ann.id}`)
  await server.admin.put(`/api/directories/globex/members/${ben.id}`)
  const sees = async () => [names(await ann.get('/api/users')), (await ann.get(`/api/users/${ben.id}`)).status]
  const isSeenBy = async () => [names(await ben.get('/api/users')), (await ben.get(`/api/users/${ann.id}`)).status]

  const before = await sees()
  const { body: app } = await server.admin.post('/api/apps', { type: 'chat_room', members: [ann.id, ben.id] })
  const together = await sees()
  await server.admin.post(`/api/apps/${app.id}/trash`)
  const trashed = await sees()
  await server.admin.post(`/api/apps/${app.id}/restore`)
  await server.admin.put(`/api/apps/${app.id}/members/${ben.id}`, { access: 'none' })
  const blocked = await sees()

  expect(before).toEqual([['Ann'], 404])
  expect(together).toEqual([['Ann', 'Ben'], 200])
  expect(trashed).toEqual([['Ann'], 404])
  expect(blocked).toEqual([['Ann'], 404])
  // Whoever is kept out sees the others as little as they do.
  expect(await isSeenBy()).toEqual([['Ben'], 404])
})

test('a user does not see trashed people, however it asks', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.post(`/api/users/${ben.id}/trash`)

  expect(names(await ann.get('/api/users?trashed=null'))).toEqual(['Ann'])
  expect((await ann.get('/api/users?trashed=true')).body).toEqual({ start: '0', end: '0', count: '0' })
  expect((await ann.get(`/api/users/${ben.id}?trashed=true`)).status).toBe(404)
})

test('agents without a directory are visible to everyone, others to their directories alone', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  for (const name of ['acme', 'globex']) await server.admin.post('/api/directories', { name })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  await server.admin.put(`/api/directories/acme/members/${ben.id}`)
  const free = await insertAgent(database.url, 'free')
  const bound = await insertAgent(database.url, 'bound', ['acme'])
  await server.admin.post('/api/apps', { type: 'chat_room', members: [ann.id, bound] })

  expect(names(await ann.get('/api/users'))).toEqual(['Ann', 'free'])
  expect(names(await ben.get('/api/users'))).toEqual(['Ben', 'bound', 'free'])
  expect((await ann.get(`/api/users/${free}`)).body).toMatchObject({ is_agent: true, presence: 'active' })
  expect((await ann.get(`/api/users/${bound}`)).status).toBe(404)
  expect(names(await ben.get('/api/users?agent=true'))).toEqual(['bound', 'free'])
  expect(names(await server.admin.get('/api/users?agent=false'))).toEqual(['Ann', 'Ben'])
  expect((await ann.get('/api/user')).body).not.toHaveProperty('is_agent')
})

test('agents cannot be changed as if they were people', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const agent = await insertAgent(database.url, 'helper')

  expect((await server.admin.patch(`/api/users/${agent}`, { password: 'let me in' })).status).toBe(404)
  expect((await server.admin.delete(`/api/users/${agent}`)).status).toBe(404)
  expect((await server.admin.post(`/api/users/helper/trash`)).status).toBe(404)
  expect((await server.admin.put('/api/users/Helper', {})).body.errors).toHaveProperty('uid')
  expect((await server.admin.post('/api/users', { uid: 'HELPER' })).body.errors).toHaveProperty('uid')
})
