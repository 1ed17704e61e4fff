import { expect, test } from 'vitest'
import type { Answer } from '../support/client.ts'
import { listen } from '../support/realtime.ts'
import { startServer } from '../support/server.ts'

// That every answer about one app has the headers is checked in all tests: see test/support/replies.ts.

const revOf = ({ headers }: Answer) => headers.get('x-service-rev')

test('a write answers with the rev of its last event, and a read with the newest rev', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using inbox = await listen(server.url, { token: ben.token })
  const { epoch } = await inbox.subscribe(app)
  const { body, ...sent } = await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })
  const item = `/api/messages/${body.id}`
  const answers: Answer[] = [{ body, ...sent }]
  answers.push(await ann.patch(item, { text: 'Hello' }))
  answers.push(await ben.post(`${item}/reactions`, { content: '👍' }))
  answers.push(await ben.delete(`${item}/reactions`))
  answers.push(await ben.put(`/api/apps/${app}/mark?message_id=${body.id}`))
  answers.push(await ann.patch(`/api/apps/${app}`, { name: 'Garden' }))
  answers.push(await ann.post(`${item}/trash`))
  answers.push(await ann.post(`${item}/restore`))

  const events = await inbox.take(answers.length)
  expect(answers.map(revOf)).toEqual(events.map(({ rev }) => rev))
  for (const read of [item, `/api/apps/${app}`, `/api/apps/${app}/messages`, `/api/apps/${app}/members`]) {
    const answer = await ben.get(read)
    expect(revOf(answer)).toBe(events.at(-1)!.rev)
    expect(answer.headers.get('x-service-epoch')).toBe(epoch)
  }
})

test('a write that changes nothing answers with the rev at which it found the app', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const pinned = await ann.put(`/api/apps/${app}/pin`)
  const again = await ann.put(`/api/apps/${app}/pin`)

  expect(revOf(pinned)).not.toBeNull()
  expect(revOf(again)).toBe(revOf(pinned))
})

test('a repeated create answers with its key, and with a rev that is not below the first', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using inbox = await listen(server.url, { token: ben.token })
  await inbox.subscribe(app)
  const send = () => ann.post(`/api/apps/${app}/messages`, { text: 'hello' }, { 'idempotency-key': 'one two' })

  const first = await send()
  // Its event is sent to nobody else, so no client could wait for its rev.
  await ann.put(`/api/apps/${app}/pin`)
  const second = await send()

  expect(first.headers.get('idempotency-key')).toBe('one two')
  expect(second.headers.get('idempotency-key')).toBe('one two')
  const [event] = await inbox.take(1)
  expect([revOf(first), revOf(second)]).toEqual([event!.rev, event!.rev])
})

test('two requests with one key at the same time answer with the rev of the one event', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using inbox = await listen(server.url, { token: ben.token })
  await inbox.subscribe(app)

  const both = await Promise.all(
    [1, 2].map(() => ann.post(`/api/apps/${app}/messages`, { text: 'hello' }, { 'idempotency-key': 'both' })),
  )

  const [event] = await inbox.take(1)
  expect(both.map(revOf)).toEqual([event!.rev, event!.rev])
})

test('answers about no app or several have no rev, and pages of other origins may read the headers', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  for (const path of ['/api/user', '/api/apps', '/api/messages'])
    expect([path, revOf(await ann.get(path))]).toEqual([path, null])

  const { headers } = await ann.get(`/api/apps/${app}`, { origin: 'https://host.example' })
  const exposed = headers.get('access-control-expose-headers')!.split(', ')
  expect(exposed).toEqual(expect.arrayContaining(['Idempotency-Key', 'X-Service-Epoch', 'X-Service-Rev']))
})

test('a read has all events up to its rev, while others write', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  const { body: item } = await ann.post(`/api/apps/${app}/messages`, { text: '0' })
  /** Rev of an edit → its number. */
  const written = new Map<number, number>()
  const write = async () => {
    for (let n = 1; n <= 40; n++) {
      const answer = await ann.patch(`/api/messages/${item.id}`, { text: `${n}` })
      written.set(Number(revOf(answer)), n)
    }
  }
  const reads: { rev: number; n: number }[] = []
  const read = async () => {
    while (written.size < 40) {
      const answer = await ann.get(`/api/messages/${item.id}`)
      reads.push({ rev: Number(revOf(answer)), n: Number(answer.body.text) })
    }
  }
  await Promise.all([write(), read(), read()])

  for (const { rev, n } of reads) {
    const newest = Math.max(0, ...[...written].flatMap(([at, edit]) => (at <= rev ? edit : [])))
    expect(n).toBeGreaterThanOrEqual(newest)
  }
  expect(reads.length).toBeGreaterThan(10)
})
