import { expect, test } from 'vitest'
import type { EventTypes } from '../../src/engine/catch-up.ts'
import { event, type AppEvent, type EventType } from '../../src/engine/event.ts'
import { UserCache } from '../../src/auth/user-cache.ts'
import { Recent } from '../../src/engine/recent.ts'
import { AppState, type AppRow } from '../../src/engine/state.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { AppTopic } from '../../src/realtime/topics/app-topic.ts'
import { History } from '../../src/realtime/topics/history.ts'
import { ReplayBuffers } from '../../src/realtime/topics/replay-buffer.ts'
import { findCodec, type Frame } from '../../src/realtime/protocols/protocol.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const app = 7
const note = event<unknown>({ type: 'note', entity: 'message', isActivity: true, present: ({ facts }) => facts })
const secret = event<unknown>({ type: 'secret', entity: 'message', isActivity: false })
const broken = event<unknown>({
  type: 'broken',
  entity: 'message',
  isActivity: true,
  present() {
    throw new TypeError('cannot be shown')
  },
})
const unwritable = event<unknown>({
  type: 'unwritable',
  entity: 'message',
  isActivity: true,
  present: () => ({ at: new Date(Number.NaN) }),
})
const types: EventTypes = new Map([note, secret, broken, unwritable].map(kind => [kind.type, kind]))
const form = findCodec('json', 'number')!

const occurred = (kind: EventType<unknown>, rev: number, prev: number): AppEvent => ({
  kind,
  app_id: app,
  rev,
  prev,
  type: kind.type,
  actor_id: 0,
  entity_id: rev,
  facts: { text: `note ${rev}` },
  created_at: new Date(),
  body: null,
})

/** A topic on a real log, whose events the test writes itself. */
async function openTopic() {
  const database = await createDatabase()
  const sql = openSql({ url: database.url, connections: 2, statementTimeoutMs: 5_000, applicationName: 'reader' })
  await prepareEvents(database.sql, new Date())
  const told: Frame[] = []
  const userCache = new UserCache(sql)
  await userCache.load([0, -1])
  const warnings: string[] = []
  const log = createLog('warn', line => void warnings.push(line))
  const state = new AppState({ id: app, head_rev: 10 } as AppRow, [], new Recent([], true))
  const topic = new AppTopic(app, {
    apps: { pin: async () => () => {}, peek: () => state, state: () => state },
    history: new History({ sql, events: types, userCache, origin: () => '', actor: ({ id }) => ({ id }), log }),
    buffers: new ReplayBuffers(1_000_000),
    sessionsOf: () => [],
    publish: (_, bytes) => void told.push(JSON.parse(Buffer.from(bytes).toString())),
    onAdvance: () => {},
    clock: { ...systemClock, after: (_, run) => systemClock.after(20, run) },
    log,
  })
  await topic.open()
  topic.addListener(form)
  return {
    topic,
    told,
    warnings,
    database,
    /** Commits events, as another node would. */
    async write(events: AppEvent[]) {
      for (const { rev, prev, type, facts, created_at } of events) {
        await database.sql`
          insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, facts, created_at)
          values (${app}, ${rev}, ${prev}, ${type}, 0, 'message', ${rev}, ${database.sql.json(facts as { text: string })}, ${created_at})`
      }
    },
    /** Commits events to the topic, and says that this is where the app's history ends. */
    hear(events: AppEvent[], head = events.at(-1)!.rev) {
      state.app = { ...state.app, head_rev: head }
      topic.onCommit(events, state)
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 })
      await database[Symbol.asyncDispose]()
    },
  }
}

const revs = (told: Frame[]) => told.map(({ rev }) => rev)

test('what is in memory is published in the same tick', async () => {
  await using stage = await openTopic()

  stage.hear([occurred(note, 11, 10), occurred(note, 14, 11)])

  expect(stage.told).toMatchObject([
    { type: 'event', event: 'note', rev: 11, prev: 10, text: 'note 11' },
    { type: 'event', event: 'note', rev: 14, prev: 11, text: 'note 14' },
  ])
})

test('what is received twice is published once', async () => {
  await using stage = await openTopic()

  stage.hear([occurred(note, 11, 10), occurred(note, 12, 11)])
  stage.hear([occurred(note, 11, 10), occurred(note, 12, 11), occurred(note, 13, 12)])

  expect(revs(stage.told)).toEqual([11, 12, 13])
})

test('a gap is filled from the log before anything later is published', async () => {
  await using stage = await openTopic()
  const events = [11, 12, 13, 14, 15].map(rev => occurred(note, rev, rev - 1))
  await stage.write(events)

  stage.hear(events.slice(0, 1))
  stage.hear(events.slice(3, 4))
  stage.hear(events.slice(4))

  await eventually(() => expect(revs(stage.told)).toEqual([11, 12, 13, 14, 15]))
})

test('a gap before an event that the state does not know yet is filled as well', async () => {
  await using stage = await openTopic()
  const events = [11, 12, 13].map(rev => occurred(note, rev, rev - 1))
  await stage.write(events)

  stage.hear(events.slice(2), 10)

  await eventually(() => expect(revs(stage.told)).toEqual([11, 12, 13]))
})

test('a state that was loaded anew, without its events, publishes what was missed', async () => {
  await using stage = await openTopic()
  await stage.write(Array.from({ length: 450 }, (_, i) => occurred(note, 11 + i, 10 + i)))

  stage.hear([], 460)

  await eventually(() => expect(revs(stage.told)).toEqual(Array.from({ length: 450 }, (_, i) => 11 + i)))
})

test('more than can wait is forgotten and read from the log', async () => {
  await using stage = await openTopic()
  const events = Array.from({ length: 3_000 }, (_, i) => occurred(note, 11 + i, 10 + i))
  await stage.write(events)

  stage.hear(events.slice(1, 2))
  for (let i = 2; i < events.length; i++) stage.hear(events.slice(i, i + 1))

  await eventually(() => expect(revs(stage.told)).toEqual(events.map(({ rev }) => rev)), { timeoutMs: 10_000 })
})

test('a connection that breaks while a gap is being filled delays the events, and loses none', async () => {
  await using stage = await openTopic()
  const events = Array.from({ length: 600 }, (_, i) => occurred(note, 11 + i, 10 + i))
  await stage.write(events)
  const kill = () =>
    stage.database.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'reader'`

  stage.hear(events.slice(300, 301))
  for (let i = 0; i < 10; i++) await kill()
  stage.hear(events.slice(-1))

  await eventually(() => expect(revs(stage.told)).toEqual(events.map(({ rev }) => rev)), { timeoutMs: 15_000 })
})

test('while the log cannot be read a gap is tried again, also where nothing more happens', async () => {
  await using stage = await openTopic()
  const events = [11, 12, 13].map(rev => occurred(note, rev, rev - 1))
  await stage.write(events)
  await stage.database.sql`alter table events rename to events_away`

  stage.hear(events.slice(2))
  await eventually(() => expect(stage.warnings).not.toEqual([]))
  await stage.database.sql`alter table events_away rename to events`

  await eventually(() => expect(revs(stage.told)).toEqual([11, 12, 13]))
})

test('what is not sent leaves no gap, and clients get the rev that they are at', async () => {
  await using stage = await openTopic()

  for (let rev = 11; rev <= 120; rev++) stage.hear([occurred(secret, rev, rev - 1)])
  stage.hear([occurred(note, 121, 120)])

  expect(stage.told).toMatchObject([
    { type: 'current', rev: 110 },
    { type: 'event', rev: 121, prev: 10 },
  ])
})

test('an event that cannot be shown does not keep the others', async () => {
  await using stage = await openTopic()

  stage.hear([occurred(broken, 11, 10), occurred(note, 12, 11)])

  expect(revs(stage.told)).toEqual([11, 12])
})

test('an event that cannot be written does not keep the others, and clients get the rev past it', async () => {
  await using stage = await openTopic()

  stage.hear([occurred(unwritable, 11, 10), occurred(note, 12, 11)])

  expect(stage.told).toMatchObject([
    { type: 'current', rev: 11 },
    { type: 'event', rev: 12, prev: 11 },
  ])
})

test('where the log was cut off in between, subscribers are told to start again', async () => {
  await using stage = await openTopic()
  await stage.write([occurred(note, 21, 20), occurred(note, 22, 21)])

  stage.hear([occurred(note, 22, 21)])

  await eventually(() => expect(stage.told).toHaveLength(2))
  expect(stage.told).toMatchObject([
    { type: 'reset', rev: 21 },
    { type: 'event', rev: 22, prev: 21 },
  ])
})
