import { expect, test } from 'vitest'
import type { Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startPair } from '../support/pair.ts'
import { listen, type Heard } from '../support/realtime.ts'
import { startServer, type Person } from '../support/server.ts'

/** The items of an app as HTTP shows them to a person, newest first. */
const listed = async (person: Person, app: string, plural: string, take = 100) =>
  ((await person.get(`/api/apps/${app}/${plural}?out=details&order_by=id+desc&take=${take}`)).body.data ?? []) as Body[]

test('a snapshot has the app, its newest items, its members and their markers as HTTP shows them', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push((await ann.post(`/api/apps/${app}/messages`, { text: `${n}` })).body.id)
  await ben.post(`/api/messages/${ids[3]}/reactions`, { content: '👍' })
  await ben.post(`/api/messages/${ids[4]}/stars`)
  await ben.put(`/api/apps/${app}/mark?message_id=${ids[4]}`)
  await ann.post(`/api/messages/${ids[2]}/trash`)
  await ann.put(`/api/apps/${app}/typing`)
  await using inbox = await listen(server.url, { token: ben.token })

  inbox.say({ type: 'subscribe', app_id: app, snapshot: 3, agents: true })
  const { snapshot, rev } = await inbox.hear('subscribed')

  expect(snapshot.items).toEqual(await listed(ben, app, 'messages', 3))
  expect(snapshot.items[0].is_starred).toBe(true)
  expect(snapshot).toMatchObject({ item_type: 'message', has_more: true, member_count: '2' })
  const { headers, body: members } = await ben.get(`/api/apps/${app}/members?order_by=id`)
  expect(rev).toBe(headers.get('x-service-rev'))
  expect(snapshot.members).toEqual(expect.arrayContaining(members.data))
  expect(snapshot.members).toHaveLength(2)
  const [shown] = (await ben.get('/api/apps')).body.data
  expect(shown).toMatchObject(snapshot.app)
  expect(snapshot.typing).toMatchObject([{ id: ann.id }])
})

test.each([
  ['posts', 'post'],
  ['comments', 'comment'],
  ['files', 'file'],
] as const)('the items of an app of %s are what it holds', async (type, item_type) => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const { id: app } = (await server.admin.post('/api/apps', { type, members: [ann.id] })).body
  for (let n = 0; n < 3; n++) {
    if (type !== 'files') await ann.post(`/api/apps/${app}/${type}`, { text: `${n}` })
    else {
      const form = new FormData()
      form.append('blob', new Blob([`${n}`]), `${n}.txt`)
      const blob = (await ann.post('/api/blobs', form)).body
      await ann.post(`/api/apps/${app}/files`, { blob_id: blob.id })
    }
  }
  await using inbox = await listen(server.url, { token: ann.token })

  inbox.say({ type: 'subscribe', app_id: app, snapshot: 2 })
  const { snapshot } = await inbox.hear('subscribed')

  const unsigned = (items: Body[]) => JSON.stringify(items).replaceAll(/"https?:[^"]+"/g, '"url"')
  expect(unsigned(snapshot.items)).toBe(unsigned(await listed(ann, app, type, 2)))
  expect(snapshot).toMatchObject({ item_type, has_more: true })
})

test('a client whose history reaches back gets what it missed, and no snapshot', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  await using inbox = await listen(server.url, { token: ann.token })
  const { rev, epoch } = await inbox.subscribe(app)
  inbox.say({ type: 'unsubscribe', app_id: app })
  await ann.post(`/api/apps/${app}/messages`, { text: 'missed' })

  inbox.say({ type: 'subscribe', app_id: app, after: rev, epoch, snapshot: 5 })

  expect(await inbox.hear('subscribed')).not.toHaveProperty('snapshot')
  expect(await inbox.hear('event')).toMatchObject({ message: { text: 'missed' } })
})

test('a client whose place is of no use gets a snapshot instead of a reset', async () => {
  await using server = await startServer()
  const {
    app,
    people: [ann],
  } = await server.chatWith(1)
  await ann.post(`/api/apps/${app}/messages`, { text: 'here' })
  await using inbox = await listen(server.url, { token: ann.token })
  const { rev } = await inbox.subscribe(app)

  for (const place of [{ after: rev, epoch: 'another' }, { after: Number(rev) + 1_000 }, { after: 1 }]) {
    inbox.say({ type: 'subscribe', app_id: app, snapshot: 5, ...place })
    expect(await inbox.hear('subscribed')).toMatchObject({ rev, snapshot: { items: [{ text: 'here' }] } })
  }
  await inbox.settle()
  expect(inbox.frames.filter(({ type }) => type === 'reset')).toEqual([])
})

test('what a user has removed, or may not see, is in no snapshot', async () => {
  await using server = await startServer()
  const [ann, ben, eve] = await Promise.all(['Ann', 'Ben', 'Eve'].map(name => server.person(name)))
  const { id: app } = (await ann!.post('/api/apps', { type: 'private_chat', members: [ben!.id] })).body
  await ben!.post(`/api/apps/${app}/messages`, { text: 'before' })
  await ann!.post(`/api/apps/${app}/remove`)
  await ben!.post(`/api/apps/${app}/messages`, { text: 'after' })
  await using inbox = await listen(server.url, { token: ann!.token })
  await using stranger = await listen(server.url, { token: eve!.token })

  for (const one of [inbox, stranger]) one.say({ type: 'subscribe', app_id: app, snapshot: 5 })

  const { snapshot } = await inbox.hear('subscribed')
  expect(snapshot.items).toMatchObject([{ text: 'after' }])
  expect(snapshot.has_more).toBe(false)
  expect(await stranger.hear('error')).toMatchObject({ code: 'not-found', app_id: app })
})

test('a client that reads slowly gets its snapshots as it has room for them, and none is missing', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const text = 'x'.repeat(4_000)
  const apps: string[] = []
  for (let n = 0; n < 40; n++) {
    const { body } = await server.admin.post('/api/apps', { type: 'chat_room', members: [ann.id] })
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => ann.post(`/api/apps/${body.id}/messages`, { text })))
    apps.push(body.id)
  }
  await using inbox = await listen(server.url, { token: ann.token })
  // More than may wait for a client, so it would be cut off if all were sent at once.
  inbox.socket.pause()
  inbox.say({ type: 'subscribe', snapshot: 6, apps: apps.map(app_id => ({ app_id })) })
  await ann.get('/api/user')
  inbox.socket.resume()

  const answers = await inbox.take(40, 'subscribed', 60_000)
  expect(new Set(answers.map(({ app_id }) => app_id))).toEqual(new Set(apps))
  for (const { snapshot } of answers) expect(snapshot.items).toHaveLength(6)
})

/** What a client has after a snapshot and the events that follow: its messages by id, and the text of the markers. */
function fold({ snapshot }: Heard, events: Heard[]) {
  const items = new Map<string, Body>(snapshot.items.map((item: Body) => [item.id, item]))
  const markers = new Map<string, string>(snapshot.members.map((one: Body) => [one.id, one.marked_id]))
  for (const { event, message, entity, reaction, actor, marked_id } of events) {
    if (event === 'message_deleted' || message?.is_trashed) items.delete(message.id)
    else if (event === 'message_created' || (event === 'message_updated' && items.has(message.id)))
      items.set(message.id, { ...items.get(message.id), ...message })
    if (event === 'message_created') markers.set(actor.id, message.id)
    if (event === 'app_marked') markers.set(actor.id, marked_id)
    const item = entity && items.get(entity.id)
    if (item === undefined) continue
    const others = (item.reactions?.data ?? []).filter((one: Body) => one.created_by.id !== actor.id)
    const data = event === 'reaction_added' ? [...others, { content: reaction, created_by: actor }] : others
    items.set(item.id, { ...item, reactions: { data } })
  }
  const reactionsOf = ({ reactions }: Body) =>
    (reactions?.data ?? []).map((one: Body) => `${one.created_by.id} ${one.content}`).sort()
  const shown = [...items.values()].map(item => ({ id: item.id, text: item.text, reactions: reactionsOf(item) }))
  return { items: shown.sort((a, b) => Number(b.id) - Number(a.id)), markers }
}

test.each([1, 2])(
  'a snapshot and the events after it are what HTTP shows at rest, while %i nodes are written to',
  async nodes => {
    await using pair = await startPair({ hasRedis: nodes === 2 })
    const {
      app,
      people: [ann, ben, eve],
    } = await pair.here.chatWith(3)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push((await ann.post(`/api/apps/${app}/messages`, { text: `${n}` })).body.id)
    const url = nodes === 2 ? pair.there.url : pair.here.url
    const isOver = { now: false }
    const write = async (person: Person, seed: number) => {
      for (let n = seed; !isOver.now; n += 7) {
        const id = ids[n % ids.length]!
        if (n % 5 === 0) ids.push((await person.post(`/api/apps/${app}/messages`, { text: `new ${n}` })).body.id)
        else if (n % 5 === 1) await person.patch(`/api/messages/${id}`, { text: `edited ${n}` })
        else if (n % 5 === 2) await person.post(`/api/messages/${id}/reactions`, { content: '👍' })
        else if (n % 5 === 3) await person.delete(`/api/messages/${id}/reactions`)
        else await person.put(`/api/apps/${app}/mark?message_id=${id}`)
      }
    }
    const writing = [write(ann, 0), write(ben, 3), write(eve, 6)]
    const inboxes = []
    for (let n = 0; n < 6; n++) {
      const inbox = await listen(url, { token: eve.token })
      inbox.say({ type: 'subscribe', app_id: app, snapshot: 100 })
      inboxes.push({ inbox, start: await inbox.hear('subscribed') })
      await ann.get(`/api/apps/${app}/messages`)
    }
    isOver.now = true
    await Promise.all(writing)
    const last = await ann.post(`/api/apps/${app}/messages`, { text: 'last' })
    const items = await listed(eve, app, 'messages')
    const { data: members } = (await eve.get(`/api/apps/${app}/members`)).body

    for (const { inbox, start } of inboxes) {
      const rev = last.headers.get('x-service-rev')
      await inbox.hearUntil('event', event => event.rev === rev).then(frames => inbox.frames.unshift(...frames))
      const events = inbox.frames.filter(({ type }) => type === 'event')
      expect(events.every(event => Number(event.rev) > Number(start.rev))).toBe(true)
      const folded = fold(start, events)
      expect(folded.items).toEqual(fold({ snapshot: { items, members: [] } } as unknown as Heard, []).items)
      expect(folded.markers).toEqual(new Map(members.map((one: Body) => [one.id, one.marked_id])))
      await inbox[Symbol.asyncDispose]()
    }
  },
)

test('what is written while a snapshot is being read is not in it, and follows it', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann, ben],
  } = await server.chatWith(2)
  const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'before' })
  const { headers, body: before } = await ben.get(`/api/apps/${app}/messages?out=details`)
  await using inbox = await listen(server.url, { token: ben.token })
  await inbox.settle()

  await database.sql.begin(async tx => {
    // Of the snapshot, the app is read, and its members and items are not.
    await tx`lock table members in access exclusive mode`
    inbox.say({ type: 'subscribe', app_id: app, snapshot: 10 })
    await eventually(async () => {
      const waiting = await database.sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%members%'`
      expect(waiting).toHaveLength(1)
    })
    const { status } = await ann.patch(`/api/messages/${message.id}`, { text: 'after' })
    expect(status).toBe(200)
  })

  const { rev, snapshot } = await inbox.hear('subscribed')
  expect(rev).toBe(headers.get('x-service-rev'))
  expect(snapshot.items).toEqual(before.data)
  expect(await inbox.hear('event')).toMatchObject({ event: 'message_updated', prev: rev, message: { text: 'after' } })
})
