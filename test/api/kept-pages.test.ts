import { expect, test } from 'vitest'
import type { Answer, Body } from '../support/client.ts'
import { startServer, type Person } from '../support/server.ts'

interface Room {
  path: string
  app: string
  ann: Person
  /** The id of the only message, which Ann wrote. */
  first: string
  ben: Person
}

/** What happens in the room, and what Ben's page shows of it, which it did not show before. */
const changes: [string, (room: Room) => Promise<Answer>, (page: Body) => unknown][] = [
  ['a new message', ({ ann, path }) => ann.post(path, { text: 'second' }), page => page.data[0].text === 'second'],
  [
    'an edit',
    ({ ann, first }) => ann.patch(`/api/messages/${first}`, { text: 'edited' }),
    page => page.data[0].text === 'edited',
  ],
  [
    'a message in the trash',
    ({ ann, first }) => ann.post(`/api/messages/${first}/trash`),
    page => page.count === '0' && page.data === undefined,
  ],
  ['his star', ({ ben, first }) => ben.post(`/api/messages/${first}/stars`), page => page.data[0].is_starred],
  [
    'that he is not subscribed any more',
    ({ ben, app }) => ben.post(`/api/apps/${app}/unsubscribe`),
    page => !page.data[0].is_subscribed,
  ],
]

test.each(changes)('a page that was read before and is read again shows %s', async (_, change, isShown) => {
  await using server = await startServer()
  const room = await openRoom(server)
  const path = `${room.path}?order_by=id+desc`
  const pages = [await room.ben.get(path), await room.ben.get(path)]

  const { status } = await change(room)

  expect(status).toBeLessThan(300)
  expect(pages[1]!.body).toEqual(pages[0]!.body)
  expect(isShown(pages[0]!.body)).toBe(false)
  expect(isShown((await room.ben.get(path)).body)).toBe(true)
})

test('everybody gets the page as it is for them, whoever asked before', async () => {
  await using server = await startServer()
  const { path, ann, ben, first, app } = await openRoom(server)
  await ben.post(`/api/messages/${first}/stars`)
  const shown = async (person: Pick<Person, 'get'>, query = '', headers = {}) => {
    const { body } = await person.get(`${path}?${query}`, headers)
    const { id, is_starred, is_subscribed } = body.data[0]
    return { id, is_starred, is_subscribed }
  }
  const starred = [await shown(ben), await shown(ann), await shown(ben)]
  await ben.delete(`/api/messages/${first}/stars`)
  await ann.post(`/api/apps/${app}/unsubscribe`)

  const plain = { id: first, is_starred: false, is_subscribed: true }
  expect(starred).toEqual([{ ...plain, is_starred: true }, plain, { ...plain, is_starred: true }])
  for (let round = 0; round < 2; round++) {
    expect(await shown(ben)).toEqual(plain)
    expect(await shown(ann)).toEqual({ ...plain, is_subscribed: false })
    expect(await shown(server.admin)).toEqual({ ...plain, is_subscribed: false })
    expect(await shown(ben, '', { prefer: 'scalars=number' })).toEqual({ ...plain, id: Number(first) })
    expect((await ben.get(`${path}?skip=1`)).body).toEqual({ start: '1', end: '1', count: '1' })
    expect((await ben.get(`${path}?q=nothing`)).body).toEqual({ start: '0', end: '0', count: '0' })
    expect((await ben.get(`${path}?count_only=true`)).body).toEqual({ count: '1' })
  }
})

async function openRoom(server: Awaited<ReturnType<typeof startServer>>): Promise<Room> {
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const path = `/api/apps/${app}/messages`
  const { body } = await ann.post(path, { text: 'first' })
  return { path, app, ann, ben, first: body.id }
}
