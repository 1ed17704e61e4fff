import { expect, test } from 'vitest'
import { Apps } from '../../src/actors/apps.ts'
import { command } from '../../src/actors/command.ts'
import { Environment } from '../../src/actors/environment.ts'
import { event } from '../../src/actors/event.ts'
import { Lane } from '../../src/actors/lane.ts'
import { People, type Person } from '../../src/actors/people.ts'
import type { Access, AppRow } from '../../src/actors/state.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { History } from '../../src/realtime/channels/history.ts'
import { Tails } from '../../src/realtime/channels/tail.ts'
import { FanOut } from '../../src/realtime/fan-out.ts'
import { findForm, type Frame } from '../../src/realtime/protocol.ts'
import { Session, type Wire } from '../../src/realtime/session.ts'
import { prepareEvents } from '../../src/storage/housekeeping.ts'
import { openSql } from '../../src/storage/sql.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const noted = event<null>({ type: 'noted', entity: 'message', touches: true, present: () => ({}) })
const opened = event<AppRow>({
  type: 'opened',
  entity: 'app',
  touches: true,
  apply(state, { body }) {
    if (body !== null) state.app = { ...state.app, access: body.access }
  },
  present: () => ({}),
})
const note = command('note', work => work.emit(noted, { entity: 1, body: null }))
const open = command('open', (work, access: Access) =>
  work.emit(opened, { entity: work.app.id, body: { ...work.app, access } }),
)
const by = { kind: 'key', user: 0, credential: '' } as const
const form = findForm('json', 'number')!

/** A socket whose other end the test holds. */
class Ear implements Wire {
  readonly topics = new Set<string>()
  readonly frames: Frame[] = []
  buffered = 0
  /** What a frame adds to the buffer; a client that reads has none. */
  stuckBytes = 0

  send(message: Uint8Array): number {
    this.frames.push(JSON.parse(Buffer.from(message).toString()))
    this.buffered += this.stuckBytes
    return 1
  }
  getBufferedAmount = () => this.buffered
  subscribe = (topic: string) => Boolean(this.topics.add(topic))
  unsubscribe = (topic: string) => this.topics.delete(topic)
  cork = (run: () => void) => run()
  end = () => {}
  close = () => {}

  revs(type = 'event'): unknown[] {
    return this.frames.filter(frame => frame.type === type).map(({ rev }) => rev)
  }
}

const origin = () => ''
const actor = ({ id }: Person) => ({ id })

/** Real actors on a real database, with sessions whose sockets are in the test's hands. */
async function openStage() {
  const database = await createDatabase()
  const connect = (connections: number) => openSql({ url: database.url, connections, statementTimeoutMs: 5_000 })
  const sql = connect(3)
  await prepareEvents(sql, new Date())
  const log = createLog('error')
  const environment = new Environment(sql)
  await environment.start()
  const people = new People(sql)
  await people.load([0, -1])
  const lanes = [1, 2].map(() => new Lane({ open: () => connect(1), deadlineMs: 10_000 }))
  const events = new Map([noted, opened].map(kind => [kind.type, kind as never]))
  const ears: Ear[] = []
  const apps = new Apps({
    sql,
    environment,
    people,
    events,
    followers: [],
    recent: async () => [],
    lanes: lanes.slice(1),
    soloLanes: lanes.slice(0, 1),
    flushLimit: 100,
    mailboxLimit: 1_000,
    totalLimit: 1_000,
    isShared: false,
    memoryBytes: 100_000_000,
    observe: () => {},
    now: () => new Date(),
    log,
  })
  const fanOut = new FanOut({
    apps,
    people,
    history: new History({ sql, events, people, origin, actor, log }),
    tails: new Tails(1_000_000),
    replayBytes: 1_000,
    origin,
    actor,
    clock: systemClock,
    log,
    publish: (topic, bytes) => ears.forEach(ear => ear.topics.has(topic) && ear.send(bytes)),
    // As in the server: whoever is not in memory may do nothing.
    hiddenUntil: () => 0,
    canRead: ({ app }, user) => people.find(user) !== undefined && app.access !== 'none',
  })
  apps.listen((state, events) => fanOut.hear(state, events))
  const [user] = await sql<{ id: number }[]>`
    insert into users (display_name, created_at) values ('Ann', now()) returning id`
  const [app] = await sql<{ id: number }[]>`
    insert into apps (type, access, rev, head_rev, created_at, created_by)
    values ('chat', 'read', nextval('numbers'), currval('numbers'), now(), 0) returning id`
  return {
    people,
    fanOut,
    app: app!.id,
    note: () => apps.run(note, app!.id, by, undefined),
    open: (access: Access) => apps.run(open, app!.id, by, access),
    connect() {
      const ear = new Ear()
      const session = new Session(ear, form, 0)
      session.open({ kind: 'user', user: user!.id, credential: '' }, Number.POSITIVE_INFINITY)
      ears.push(ear)
      return { ear, session }
    },
    async [Symbol.asyncDispose]() {
      await apps.idle()
      await Promise.all(lanes.map(lane => lane.close()))
      await sql.end({ timeout: 1 })
      await database[Symbol.asyncDispose]()
    },
  }
}

const started = (ear: Ear) => eventually(() => expect(ear.revs('subscribed')).toHaveLength(1))

test('while nobody knows whether somebody may still hear, they are told nothing, and later everything', async () => {
  await using stage = await openStage()
  const { ear, session } = stage.connect()
  const witness = stage.connect()
  for (const one of [witness.session, session]) stage.fanOut.subscribe(one, stage.app)
  await started(ear)
  await stage.note()

  stage.people.clear()
  await Promise.all([stage.note(), stage.open('write'), stage.note()])
  await stage.note()

  await eventually(() => expect(ear.revs()).toHaveLength(5))
  expect(ear.revs()).toEqual(ear.revs().toSorted((a, b) => Number(a) - Number(b)))
  await eventually(() => expect(witness.ear.revs()).toEqual(ear.revs()))
})

test('whoever turns out to have lost the right was told nothing in between', async () => {
  await using stage = await openStage()
  const { ear, session } = stage.connect()
  stage.fanOut.subscribe(session, stage.app)
  await started(ear)
  await stage.note()

  stage.people.clear()
  await Promise.all([stage.note(), stage.open('none'), stage.note()])

  await eventually(() => expect(ear.frames.at(-1)).toMatchObject({ type: 'unsubscribed', reason: 'access-lost' }))
  expect(ear.revs()).toHaveLength(1)
})

test('whoever claims to have seen the future is told to start again, also when their right is doubted meanwhile', async () => {
  await using stage = await openStage()
  const witness = stage.connect()
  stage.fanOut.subscribe(witness.session, stage.app)
  await started(witness.ear)
  const { ear, session } = stage.connect()

  stage.fanOut.subscribe(session, stage.app, { after: 999_999_999 })
  stage.people.clear()
  stage.fanOut.review(session)

  await started(ear)
  await eventually(() => expect(ear.revs('reset')).toEqual(witness.ear.revs('subscribed')))
})

test('a replay waits while its client reads nothing, and goes on where it was', async () => {
  await using stage = await openStage()
  const first = stage.connect()
  stage.fanOut.subscribe(first.session, stage.app)
  await started(first.ear)
  for (let i = 0; i < 100; i++) await stage.note()
  const { ear, session } = stage.connect()
  ear.stuckBytes = 100

  stage.fanOut.subscribe(session, stage.app, { after: first.ear.revs('subscribed')[0] as number })
  await eventually(() => expect(ear.revs().length).toBeGreaterThan(0))
  await stage.note()
  expect(ear.revs().length).toBeLessThan(20)
  for (let drained = 0; drained < 30; drained++) {
    ear.buffered = 0
    stage.fanOut.drained(session)
    await stage.note()
  }

  await eventually(() => expect(ear.revs()).toEqual(first.ear.revs()))
  expect(ear.revs()).toHaveLength(131)
})

test('the last to leave an app closes its channel, and whoever comes next opens it again', async () => {
  await using stage = await openStage()
  const [one, other] = [stage.connect(), stage.connect()]
  for (const { session } of [one, other]) stage.fanOut.subscribe(session, stage.app)
  await Promise.all([started(one.ear), started(other.ear)])

  stage.fanOut.leave(one.session)
  expect(stage.fanOut.size).toBe(1)
  stage.fanOut.unsubscribe(other.session, stage.app)
  expect(stage.fanOut.size).toBe(0)
  await stage.note()
  stage.fanOut.subscribe(other.session, stage.app, { after: other.ear.revs('subscribed')[0] as number })

  await eventually(() => expect(other.ear.revs()).toHaveLength(1))
  expect(one.ear.revs()).toEqual([])
})

test('whoever leaves before being let in is not let in', async () => {
  await using stage = await openStage()
  const { ear, session } = stage.connect()

  stage.fanOut.subscribe(session, stage.app)
  stage.fanOut.unsubscribe(session, stage.app)
  await stage.note()

  expect(ear.frames).toEqual([{ type: 'unsubscribed', app_id: stage.app, reason: 'requested' }])
  expect(stage.fanOut.size).toBe(0)
})
