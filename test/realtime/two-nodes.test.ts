import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { startPair } from '../support/pair.ts'
import { joinHub } from '../support/hub.ts'
import { listen } from '../support/realtime.ts'
import { redisIsMissing } from '../support/redis.ts'
import { startServer } from '../support/server.ts'
import { client } from '../support/client.ts'

test('what is written on one node reaches subscribers on another, exactly once, whatever both write', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann, ben],
  } = await one.chatWith(2)
  await using here = await listen(one.url, { token: ben.token })
  await using there = await listen(other.url, { token: ben.token })
  for (const inbox of [here, there]) await inbox.subscribe(app)

  for (const url of [one.url, other.url, one.url, other.url]) {
    const writer = client(url, ann.token)
    await Promise.all(Array.from({ length: 50 }, () => writer.post(`/api/apps/${app}/messages`, { text: 'hello' })))
  }

  const [heardHere, heardThere] = await Promise.all([here.take(200), there.take(200)])
  expect(heardThere.map(event => event.rev)).toEqual(heardHere.map(event => event.rev))
  for (const [i, event] of heardHere.slice(1).entries()) expect(event.prev).toBe(heardHere[i].rev)
})

test('a client that changes nodes goes on where it was, even ahead of its new node', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann, ben],
  } = await one.chatWith(2)
  await using witness = await listen(other.url, { token: ben.token })
  await witness.subscribe(app)
  await using here = await listen(one.url, { token: ben.token })
  await here.subscribe(app)
  await ann.post(`/api/apps/${app}/messages`, { text: 'on the first node' })
  const [last] = await here.take(1)

  await using there = await listen(other.url, { token: ben.token })
  await there.subscribe(app, last.rev)
  await ann.post(`/api/apps/${app}/messages`, { text: 'and on' })

  expect((await there.take(1))[0]).toMatchObject({ message: { text: 'and on' }, prev: last.rev })
  expect(await witness.take(2)).toHaveLength(2)
  expect(there.frames.filter(frame => frame.type === 'reset')).toEqual([])
})

test('a client of the hub that comes to a node which is behind gets nothing twice', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann, ben],
  } = await one.chatWith(2)
  const name = `a${app}:message_created`
  await using witness = await joinHub(other.url, { token: () => ben.token })
  await witness.subscribe(name)
  const post = (text: string) => ann.post(`/api/apps/${app}/messages`, { text })
  const heard: string[] = []

  for (let i = 0; i < 5; i++) {
    // Whoever was on the other node has heard of it by now.
    await post(`before ${i}`)
    await using hub = await joinHub(other.url, { token: () => ben.token })
    await hub.subscribe(name)
    await post(`after ${i}`)
    heard.push((await hub.hear(name)).message.text)
  }

  expect(heard).toEqual([0, 1, 2, 3, 4].map(i => `after ${i}`))
  const all = await Promise.all(Array.from({ length: 10 }, () => witness.hear(name)))
  expect(all.map(({ message }) => message.text)).toEqual([0, 1, 2, 3, 4].flatMap(i => [`before ${i}`, `after ${i}`]))
})

test('a right that is withdrawn on one node ends subscriptions on another', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann, ben],
  } = await one.chatWith(2)
  await using inbox = await listen(other.url, { token: ben.token })
  await inbox.subscribe(app)

  await one.admin.delete(`/api/apps/${app}/members/${ben.id}`)
  await ann.post(`/api/apps/${app}/messages`, { text: 'not for you' })
  const { reason } = await inbox.hear('unsubscribed')
  await one.admin.delete(`/api/users/${ben.id}/tokens`)

  expect(reason).toBe('access-lost')
  expect(await inbox.closed).toBe(4401)
  expect(inbox.frames.filter(frame => frame.type === 'event')).toEqual([])
})

test('connections to PostgreSQL that break cost nobody an event', async () => {
  await using database = await createDatabase()
  await using one = await startServer({ DATABASE_URL: database.url })
  await using other = await startServer({ DATABASE_URL: database.url })
  const {
    app,
    people: [ann, ben],
  } = await one.chatWith(2)
  await using here = await listen(one.url, { token: ben.token })
  await using there = await listen(other.url, { token: ben.token })
  for (const inbox of [here, there]) await inbox.subscribe(app)

  const progress = { isDone: false }
  const writers = [one.url, other.url].map(async url => {
    const writer = client(url, ann.token)
    // What fails now is the writer's business; what was committed must be heard.
    while (!progress.isDone) await writer.post(`/api/apps/${app}/messages`, { text: 'hello' }).catch(() => null)
  })
  let count = 0
  for (let i = 0; i < 3; i++) {
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.catch(() => null)
    count += (await here.take(20, 'event', 40_000)).length
  }
  progress.isDone = true
  await Promise.all(writers)

  const log = await database.sql<{ rev: number }[]>`
    select rev from events where app_id = ${Number(app)} and type = 'message_created' order by rev`
  const heard = await there.take(log.length)
  expect(heard.map(event => Number(event.rev))).toEqual(log.map(row => row.rev))
  expect(await here.take(log.length - count)).toHaveLength(log.length - count)
}, 150_000)

test.skipIf(redisIsMissing !== null)('whoever types is seen on a node that has never met them', async () => {
  await using pair = await startPair({ hasRedis: true })
  const { here, there } = pair
  const {
    app,
    people: [ann, ben],
  } = await here.chatWith(2)
  await using inbox = await listen(there.url, { token: ben.token })
  await inbox.subscribe(app)

  await ann.put(`/api/apps/${app}/typing`)
  const begun = await inbox.hear('typing')
  await ann.post(`/api/apps/${app}/messages`, { text: 'done' })
  const ended = await inbox.hear('typing')

  expect(begun).toMatchObject({ app_id: app, actor: { id: ann.id, name: 'Ann' }, is_typing: true })
  expect(ended).toMatchObject({ app_id: app, actor: { id: ann.id }, is_typing: false })
})
