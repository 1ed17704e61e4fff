import { expect, test } from 'vitest'
import type { Body, Client } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startServer, type Person } from '../support/server.ts'

/** Numbers that look random and are the same each time. */
function* dice(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    yield state / 2 ** 32
  }
}

const words = ['Anna', 'Bär', 'Straße', 'Łucja', 'Ørsted', 'deleted', 'Zoë', 'User', 'Annex', '咖啡']

/** By hand, for these words. */
const plain = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
const isIn = (name: string, word: string) => new RegExp(`(^|[^a-z0-9])${plain(word)}`).test(plain(name))

test('whatever members, rooms and people do, apps are found by what they are called just then', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const throws = dice(3)
  const one = <Item>(items: readonly Item[]): Item => items[Math.floor(throws.next().value * items.length)]!
  const name = () => Array.from({ length: 1 + Math.floor(throws.next().value * 2) }, () => one(words)).join(' ')
  let people: Person[] = await Promise.all(Array.from({ length: 8 }, () => server.person(name())))
  const [few, many] = [people[0]!, people[1]!]
  // One of them is in so many apps that they are not looked at one by one, most of which are called alike.
  await database.sql`
    with made as (
      insert into apps (type, name, rev, head_rev, created_at, created_by)
      select 'posts', 'Orsted', i, i, now(), 1 from generate_series(1, 2500) i returning id
    )
    insert into members (app_id, user_id, access, joined_rev) select id, ${many.id}, 'admin', 1 from made`
  const rooms: string[] = []
  const { admin } = server
  const changes: (() => Promise<unknown>)[] = [
    async () => {
      const members = new Set([few.id, many.id, one(people).id].slice(Math.floor(throws.next().value * 3)))
      const { body } = await admin.post('/api/apps', { type: 'chat_room', members: [...members] })
      rooms.push(body.id)
    },
    () => one([few, many]).post('/api/apps', { type: 'private_chat', members: [one(people).id] }),
    () =>
      admin.patch(
        `/api/users/${one(people).id}`,
        one([{ name: name() }, { name: null, nickname: name() }, { name: null }]),
      ),
    () => admin.put(`/api/apps/${one(rooms)}/members/${one(people).id}`, { access: 'write' }),
    () => admin.delete(`/api/apps/${one(rooms)}/members/${one(people).id}`),
    () => admin.patch(`/api/apps/${one(rooms)}`, { name: one([null, name()]) }),
    async () => {
      if (people.length < 5) return people.push(await server.person(name()))
      const gone = people.at(-1)!
      people = people.slice(0, -1)
      await many.post('/api/apps', { type: 'private_chat', members: [gone.id] })
      return admin.delete(`/api/users/${gone.id}`)
    },
  ]
  const list = async (by: Client, q = ''): Promise<Body[]> => {
    const { status, body } = await by.get(
      `/api/apps?type=chat_room&type=private_chat&take=100&q=${encodeURIComponent(q)}`,
    )
    expect(status).toBe(200)
    return body.data ?? []
  }
  for (let i = 0; i < 4; i++) await changes[0]!()

  for (let round = 0; round < 25; round++) {
    for (let i = 0; i < 4; i++) await one(changes)()
    for (const by of [few, many, admin]) {
      const all = await list(by)
      for (const asked of [
        [one(words)],
        [one(words), one(words)],
        [one(words).slice(0, 2), one(words).toUpperCase()],
      ]) {
        const found = await list(by, asked.join(' '))

        const expected = all.filter(app => asked.every(word => isIn(app.name ?? '', word)))
        expect(
          found.map(app => app.name),
          asked.join(' '),
        ).toEqual(expected.map(app => app.name))
      }
    }
  }
})
