import { expect, test } from 'vitest'
import { startPair } from '../support/pair.ts'
import { listen, type Listener } from '../support/realtime.ts'
import { startServer, type Person } from '../support/server.ts'

const keyed = (key: string) => ({ 'idempotency-key': key })

/** Sends messages of which every other one has a key, `key 0`, `key 2` and so on. */
async function sendSome(person: Person, app: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++)
    await person.post(`/api/apps/${app}/messages`, { text: `${n}` }, n % 2 === 0 ? keyed(`key ${n}`) : {})
}

/** Texts of messages with the keys of their events. */
const heard = async (inbox: Listener, count: number) =>
  (await inbox.take(count)).map(({ message, key }) => [message.text, key])

test('an event has the key of its request in the sessions of its user, and in no others', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using one = await listen(server.url, { token: ann.token })
  await using two = await listen(server.url, { token: ann.token, protocol: 'msgpack', scalars: 'number' })
  await using other = await listen(server.url, { token: ben.token })
  for (const inbox of [one, two, other]) await inbox.subscribe(app)

  await sendSome(ann, app, 4)
  await ben.post(`/api/apps/${app}/messages`, { text: 'mine' }, keyed('"quoted" \\'))

  const own = [
    ['0', 'key 0'],
    ['1', undefined],
    ['2', 'key 2'],
    ['3', undefined],
  ]
  expect(await heard(one, 5)).toEqual([...own, ['mine', undefined]])
  expect(await heard(two, 5)).toEqual([...own, ['mine', undefined]])
  expect(await heard(other, 5)).toEqual([...own.map(([text]) => [text, undefined]), ['mine', '"quoted" \\']])
})

test('nothing comes twice or in another order where writes with keys and without arrive together', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using own = await listen(server.url, { token: ann.token })
  await using other = await listen(server.url, { token: ben.token })
  for (const inbox of [own, other]) await inbox.subscribe(app)

  await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      (n % 3 === 0 ? ben : ann).post(`/api/apps/${app}/messages`, { text: `${n}` }, n % 2 === 0 ? keyed(`${n}`) : {}),
    ),
  )

  const [mine, theirs] = [await own.take(60), await other.take(60)]
  expect(mine.map(({ key: _, ...event }) => event)).toEqual(theirs.map(({ key: _, ...event }) => event))
  expect(mine.every(({ rev }, at) => at === 0 || Number(rev) > Number(mine[at - 1]!.rev))).toBe(true)
  const isAnns = (n: number) => n % 3 !== 0 && n % 2 === 0
  for (const { message, key } of mine) expect(key).toBe(isAnns(Number(message.text)) ? message.text : undefined)
})

test('a client that comes back finds the keys of its own writes in what it missed', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using first = await listen(server.url, { token: ann.token })
  const { rev } = await first.subscribe(app)
  await sendSome(ann, app, 3)
  await first.take(3)

  // From the buffer, while there is a subscriber, and from the log.
  const expected = [
    ['0', 'key 0'],
    ['1', undefined],
    ['2', 'key 2'],
  ]
  const comesBack = async (token: string) => {
    await using inbox = await listen(server.url, { token })
    await inbox.subscribe(app, rev)
    return await heard(inbox, 3)
  }
  expect(await comesBack(ann.token)).toEqual(expected)
  await first[Symbol.asyncDispose]()
  expect(await comesBack(ann.token)).toEqual(expected)
  expect(await comesBack(ben.token)).toEqual(expected.map(([text]) => [text, undefined]))
})

test.each([true, false])(
  'the node that was written to need not be the one that is listened to (Redis: %s)',
  async hasRedis => {
    await using pair = await startPair({ hasRedis })
    const {
      app,
      people: [ann, ben],
    } = await pair.here.chatWith(2)
    await using own = await listen(pair.there.url, { token: ann.token })
    await using other = await listen(pair.there.url, { token: ben.token })
    for (const inbox of [own, other]) await inbox.subscribe(app)

    await sendSome(ann, app, 2)

    expect(await heard(own, 2)).toEqual([
      ['0', 'key 0'],
      ['1', undefined],
    ])
    expect(await heard(other, 2)).toEqual([
      ['0', undefined],
      ['1', undefined],
    ])
  },
)

test('a repeated request makes no second event', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  await using inbox = await listen(server.url, { token: ann.token })
  await inbox.subscribe(app)

  for (const _ of [1, 2]) await ann.post(`/api/apps/${app}/messages`, { text: 'once' }, keyed('again'))
  await ann.post(`/api/apps/${app}/messages`, { text: 'then' })

  expect(await heard(inbox, 2)).toEqual([
    ['once', 'again'],
    ['then', undefined],
  ])
})
