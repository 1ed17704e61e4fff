import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { listen, type Heard, type Listener } from '../support/realtime.ts'
import { startServer, type Person } from '../support/server.ts'

const write = async (person: Person, app: string, count: number) => {
  for (let i = 0; i < count; i++) await person.post(`/api/apps/${app}/messages`, { text: `message ${i}` })
}

/** What a careful client does: it keeps the last rev of every frame that has one, and checks that nothing is missing. */
class Memory {
  last: string | undefined
  readonly events: Heard[] = []

  take(frames: Heard[]): void {
    for (const frame of frames) {
      if (frame.type === 'event') {
        expect(Number(frame.prev)).toBeLessThanOrEqual(Number(this.last))
        expect(Number(frame.rev)).toBeGreaterThan(Number(this.last))
        this.events.push(frame)
      }
      if (frame.rev !== undefined) this.last = frame.rev
    }
  }
}

/** Listens until some frames have come, and is cut off in the middle of whatever is on its way. */
async function listenBriefly(url: string, token: string, app: string, memory: Memory, frames: number): Promise<void> {
  const inbox: Listener = await listen(url, { token, protocol: frames % 2 === 0 ? 'json' : 'msgpack' })
  inbox.say({ type: 'subscribe', app_id: app, after: memory.last })
  const enough = () => inbox.frames.length >= frames
  await new Promise<void>(resolve => {
    const timer = setTimeout(resolve, 200)
    inbox.socket.on('message', () => {
      if (!enough()) return
      clearTimeout(timer)
      resolve()
    })
  })
  inbox.socket.terminate()
  await inbox.closed
  memory.take(inbox.frames)
}

test('a client that is cut off again and again gets every event exactly once, in order', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const { app, people } = await server.chatWith(4)
  const reader = people[3]
  const memory = new Memory()
  await listenBriefly(server.url, reader.token, app, memory, 1)

  const progress = { isWritten: false }
  const writers = people.slice(0, 3).map(person => write(person, app, 300))
  void Promise.all(writers).then(() => (progress.isWritten = true))
  while (!progress.isWritten)
    await listenBriefly(server.url, reader.token, app, memory, 1 + Math.floor(Math.random() * 60))
  await listenBriefly(server.url, reader.token, app, memory, 10_000)

  const log = await database.sql<{ rev: number }[]>`
    select rev from events where app_id = ${Number(app)} and type = 'message_created' order by rev`
  expect(memory.events.map(event => Number(event.rev))).toEqual(log.map(row => row.rev))
  expect(log).toHaveLength(900)
})

test('a long absence is made up for from the log, page by page', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using before = await listen(server.url, { token: ben.token })
  const { rev } = await before.subscribe(app)
  await before[Symbol.asyncDispose]()
  await Promise.all(Array.from({ length: 25 }, () => write(ann, app, 20)))

  await using after = await listen(server.url, { token: ben.token })
  const { rev: start, head_rev: head } = await after.subscribe(app, rev)

  expect(start).toBe(rev)
  const heard = await after.take(500)
  expect(heard[0].prev).toBe(rev)
  for (const [i, event] of heard.slice(1).entries()) expect(event.prev).toBe(heard[i].rev)
  expect(heard.at(-1).rev).toBe(head)
  expect(await after.hear('current')).toMatchObject({ app_id: app, rev: head })
})

test('clients that come back together get the same events, whether from memory or from the log', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using first = await listen(server.url, { token: ben.token })
  const { rev } = await first.subscribe(app)
  await write(ann, app, 30)

  const inboxes = await Promise.all(Array.from({ length: 20 }, () => listen(server.url, { token: ben.token })))
  for (const inbox of inboxes) inbox.say({ type: 'subscribe', app_id: app, after: rev })
  await write(ann, app, 10)

  const live = (await first.take(40)).map(event => event.rev)
  for (const inbox of inboxes) expect((await inbox.take(40)).map(event => event.rev)).toEqual(live)
  for (const inbox of inboxes) await inbox[Symbol.asyncDispose]()
})

test('where the history is gone, the client is told to start again', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using before = await listen(server.url, { token: ben.token })
  const { rev } = await before.subscribe(app)
  before.say({ type: 'unsubscribe', app_id: app })
  await before.take(1, 'unsubscribed')
  await write(ann, app, 10)
  await database.sql`
    delete from events where app_id = ${Number(app)} and rev < (
      select rev from events where app_id = ${Number(app)} order by rev desc offset 4 limit 1)`

  await using after = await listen(server.url, { token: ben.token })
  const { head_rev: head } = await after.subscribe(app, rev)
  const reset = await after.hear('reset')
  await ann.post(`/api/apps/${app}/messages`, { text: 'after the reset' })

  expect(reset).toMatchObject({ app_id: app, rev: head })
  expect((await after.take(1))[0]).toMatchObject({ prev: head, message: { text: 'after the reset' } })
})

test('a client that claims to have seen the future is told to start again', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using inbox = await listen(server.url, { token: ben.token })

  const { rev } = await inbox.subscribe(app, 999_999_999)
  const reset = await inbox.hear('reset')
  await ann.post(`/api/apps/${app}/messages`, { text: 'now' })

  expect(reset.rev).toBe(rev)
  expect((await inbox.take(1))[0].prev).toBe(rev)
})

test('a client that saw what a restored database never had is told to start again', async () => {
  await using database = await createDatabase()
  let uid = ''
  {
    await using before = await startServer({ DATABASE_URL: database.url })
    const { app, people } = await before.chatWith(1)
    await write(people[0], app, 3)
    uid = people[0].uid
  }
  // As a restore leaves it: numbers go on far after all that were given out, also those that are lost.
  await database.sql`select setval('numbers', 1000000)`
  await using server = await startServer({ DATABASE_URL: database.url })
  const [{ app, lost }] = await database.sql<[{ app: string; lost: number }]>`
    select id::text as app, head_rev + 64 as lost from apps`
  await server.admin.post(`/api/apps/${app}/messages`, { text: 'after the restore' })
  const reader = await server.admin.post(`/api/users/${uid}/tokens`)
  await using inbox = await listen(server.url, { token: reader.body.access_token })

  await inbox.subscribe(app, lost)
  const reset = await inbox.hear('reset')
  expect(Number(reset.rev)).toBeGreaterThan(lost)
})

test('a message that was deleted meanwhile stays gone for those who come back', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using before = await listen(server.url, { token: ben.token })
  const { rev } = await before.subscribe(app)
  await before[Symbol.asyncDispose]()
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'a slip of the tongue' })
  await ann.delete(`/api/messages/${message.id}`)

  await using after = await listen(server.url, { token: ben.token })
  await after.subscribe(app, rev)

  const frames = [...after.frames, await after.hear('current')]
  expect(JSON.stringify(frames)).not.toContain('a slip of the tongue')
})

test('those who come back are told what is there, also where others have been told what was', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben, eve],
  } = await server.chatWith(3)
  await using always = await listen(server.url, { token: eve.token })
  const { rev } = await always.subscribe(app)
  const { body: deleted } = await ann.post(`/api/apps/${app}/messages`, { text: 'a slip of the tongue' })
  const { body: edited } = await ann.post(`/api/apps/${app}/messages`, { text: 'a slip of the pen' })
  await ann.delete(`/api/messages/${deleted.id}`)
  await ann.patch(`/api/messages/${edited.id}`, { text: 'well written' })
  await always.take(4)

  await using after = await listen(server.url, { token: ben.token })
  await after.subscribe(app, rev)
  const events = await after.take(3)

  expect(JSON.stringify(events)).not.toContain('a slip')
  expect(events.map(({ event }) => event)).toEqual(['message_created', 'message_deleted', 'message_updated'])
})

test('what one reads of the log leaves no gap for those who come back after them', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben, eve, kim],
  } = await server.chatWith(4)
  await using always = await listen(server.url, { token: eve.token })
  const { rev } = await always.subscribe(app)
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'a slip of the tongue' })
  await ann.delete(`/api/messages/${message.id}`)
  await always.take(2)

  for (const person of [ben, kim]) {
    const memory = new Memory()
    memory.last = rev
    await using after = await listen(server.url, { token: person.token })
    await after.subscribe(app, rev)
    await eventually(() => expect(after.frames.map(({ type }) => type)).toContain('event'))

    memory.take(after.frames)
    expect(memory.events.map(({ event }) => event)).toEqual(['message_deleted'])
  }
})

test('an event that only its owner may know of is sent to no other user, and leaves no gap', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  await using inbox = await listen(server.url, { token: ben.token })
  const { rev } = await inbox.subscribe(app)

  await ann.put(`/api/apps/${app}/pin`)
  await ann.post(`/api/apps/${app}/messages`, { text: 'hello' })

  const [event] = await inbox.take(1)
  expect(event).toMatchObject({ event: 'message_created', prev: rev })
})

test('a chat that somebody removed is not told again to them, but to the other one', async () => {
  await using server = await startServer()
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: chat } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  await ben.post(`/api/apps/${chat.id}/messages`, { text: 'a slip of the tongue' })
  await ann.post(`/api/apps/${chat.id}/remove`)
  await ben.post(`/api/apps/${chat.id}/messages`, { text: 'well then' })

  await using anns = await listen(server.url, { token: ann.token })
  await using bens = await listen(server.url, { token: ben.token })
  await anns.subscribe(chat.id, chat.rev)
  await bens.subscribe(chat.id, chat.rev)
  const { rev } = await anns.hear('reset')
  const told = await bens.take(2)
  await ben.post(`/api/apps/${chat.id}/messages`, { text: 'and now' })
  const [next] = await anns.take(1)

  expect(told.map(({ message }) => message.text)).toEqual(['a slip of the tongue', 'well then'])
  expect(next).toMatchObject({ prev: rev, message: { text: 'and now' } })
  await using later = await listen(server.url, { token: ann.token })
  await later.subscribe(chat.id, rev)
  expect((await later.take(1))[0]).toMatchObject({ message: { text: 'and now' } })
})
