import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { openStage, type Ear, type Stage } from '../support/stage.ts'

const started = (ear: Ear) => eventually(() => expect(ear.revs('subscribed')).toHaveLength(1))

/** The revs of some events that nobody who comes later has heard. */
async function happened(stage: Stage, count = 5): Promise<number[]> {
  const { ear, session } = stage.connect()
  stage.fanOut.subscribe(session, stage.app)
  await started(ear)
  for (let i = 0; i < count; i++) await stage.note()
  await eventually(() => expect(ear.revs()).toHaveLength(count))
  stage.fanOut.onClose(session)
  return ear.revs() as number[]
}

test('while the rights of a subscriber are being looked up it gets nothing, and later everything', async () => {
  await using stage = await openStage()
  const { ear, session } = stage.connect()
  const witness = stage.connect()
  for (const one of [witness.session, session]) stage.fanOut.subscribe(one, stage.app)
  await started(ear)
  await stage.note()

  stage.userCache.clear()
  await Promise.all([stage.note(), stage.open('write'), stage.note()])
  await stage.note()

  await eventually(() => expect(ear.revs()).toHaveLength(5))
  expect(ear.revs()).toEqual(ear.revs().toSorted((a, b) => Number(a) - Number(b)))
  await eventually(() => expect(witness.ear.revs()).toEqual(ear.revs()))
})

test('a subscriber that turns out to have lost the right got nothing in between', async () => {
  await using stage = await openStage()
  const { ear, session } = stage.connect()
  stage.fanOut.subscribe(session, stage.app)
  await started(ear)
  await stage.note()

  stage.userCache.clear()
  await Promise.all([stage.note(), stage.open('none'), stage.note()])

  await eventually(() => expect(ear.frames.at(-1)).toMatchObject({ type: 'unsubscribed', reason: 'access-lost' }))
  expect(ear.revs()).toHaveLength(1)
})

test('a client that claims to have seen the future is told to start again, also when its right is checked meanwhile', async () => {
  await using stage = await openStage()
  const witness = stage.connect()
  stage.fanOut.subscribe(witness.session, stage.app)
  await started(witness.ear)
  const { ear, session } = stage.connect()

  stage.fanOut.subscribe(session, stage.app, { after: 999_999_999 })
  stage.userCache.clear()
  stage.fanOut.review(session)

  await started(ear)
  await eventually(() => expect(ear.revs('reset')).toEqual(witness.ear.revs('subscribed')))
})

test('a client that has seen more than this node gets what follows once the node has seen as much', async () => {
  await using stage = await openStage()
  const [witness, ahead] = [stage.connect(), stage.connect()]
  stage.fanOut.subscribe(witness.session, stage.app)
  await started(witness.ear)
  const [elsewhere] = await stage.sql<{ rev: number }[]>`
    with app as (select id, head_rev as prev, nextval('numbers') as rev from apps where id = ${stage.app}),
      head as (update apps set head_rev = app.rev from app where apps.id = app.id)
    insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
    select id, rev, prev, 'noted', 0, 'message', 1, now() from app returning rev`

  stage.fanOut.subscribe(ahead.session, stage.app, { after: elsewhere!.rev })
  await eventually(() => expect(witness.ear.revs()).toEqual([elsewhere!.rev]))
  await stage.note()

  await eventually(() => expect(ahead.ear.revs()).toHaveLength(1))
  expect(witness.ear.revs()).toEqual([elsewhere!.rev, ...ahead.ear.revs()])
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
    stage.fanOut.onDrain(session)
    await stage.note()
  }

  await eventually(() => expect(ear.revs()).toEqual(first.ear.revs()))
  expect(ear.revs()).toHaveLength(131)
})

test('the last subscriber to leave an app closes its topic, and the next one opens it again', async () => {
  await using stage = await openStage()
  const [one, other] = [stage.connect(), stage.connect()]
  for (const { session } of [one, other]) stage.fanOut.subscribe(session, stage.app)
  await Promise.all([started(one.ear), started(other.ear)])

  stage.fanOut.onClose(one.session)
  expect(stage.fanOut.size).toBe(1)
  stage.fanOut.unsubscribe(other.session, stage.app)
  expect(stage.fanOut.size).toBe(0)
  await stage.note()
  stage.fanOut.subscribe(other.session, stage.app, { after: other.ear.revs('subscribed')[0] as number })

  await eventually(() => expect(other.ear.revs()).toHaveLength(1))
  expect(one.ear.revs()).toEqual([])
})

test('an app is kept in memory for those who listen, and not for those who left, however early', async () => {
  await using stage = await openStage({ memoryBytes: 0 })
  const { apps, app, fanOut } = stage
  const { ear, session } = stage.connect()
  const others = [await stage.addApp(), await stage.addApp()]
  // Each is read into memory in the place of all that may go.
  const readOthers = async () => {
    for (const other of others) await apps.state(other)
  }
  const isGone = async () => {
    await readOthers()
    expect(apps.peek(app)).toBeUndefined()
  }

  fanOut.subscribe(session, app)
  await started(ear)
  await readOthers()
  expect(apps.peek(app)).toBeDefined()

  fanOut.unsubscribe(session, app)
  await eventually(isGone)
  fanOut.subscribe(session, app)
  fanOut.unsubscribe(session, app)
  await eventually(isGone)
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

test('a subscriber that loses the right while its history is read gets nothing of it', async () => {
  await using stage = await openStage()
  const since = await happened(stage)
  const [gone, other] = [stage.connect(), stage.connect(0)]

  await stage.whileHistoryWaits(async () => {
    for (const { session } of [gone, other]) stage.fanOut.subscribe(session, stage.app, { after: since[0] })
    await Promise.all([started(gone.ear), started(other.ear)])
    await stage.open('none')
  })
  await eventually(() => expect(other.ear.revs()).toEqual([...since.slice(1), expect.any(Number)]))

  expect(gone.ear.frames.at(-1)).toMatchObject({ type: 'unsubscribed', reason: 'access-lost' })
  expect(gone.ear.revs()).toEqual([])
})

test('a subscriber that turns out to have kept the right while its history is read gets everything once', async () => {
  await using stage = await openStage()
  const since = await happened(stage)
  const { ear, session } = stage.connect()

  await stage.whileHistoryWaits(async () => {
    stage.fanOut.subscribe(session, stage.app, { after: since[0] })
    await started(ear)
    stage.userCache.clear()
    await stage.open('write')
    await eventually(() => expect(stage.userCache.find(stage.user)).toBeDefined())
  })
  await stage.note()

  await eventually(() => expect(ear.revs()).toHaveLength(since.length + 1))
  expect(ear.revs()).toEqual([...since.slice(1), expect.any(Number), expect.any(Number)])
})

test('a subscriber without the right in an app that had to be loaded anew gets nothing more', async () => {
  await using stage = await openStage()
  const { ear, session } = stage.connect()
  stage.fanOut.subscribe(session, stage.app)
  await started(ear)

  await stage.sql`update apps set access = 'none', head_rev = nextval('numbers')`
  await stage.look()

  await eventually(() => expect(ear.frames.at(-1)).toMatchObject({ type: 'unsubscribed', reason: 'access-lost' }))
})

/** Subscriptions that somebody asks for at once; most of them still wait when somebody else has been answered. */
const many = 400

/** So many sessions of one person; `answered` says how many of them have got a frame of this type. */
function gatherCrowd(stage: Stage) {
  const crowd = Array.from({ length: many }, () => stage.connect())
  return { crowd, answered: (type: string) => crowd.filter(({ ear }) => ear.revs(type).length > 0).length }
}

test('whoever subscribes to many apps that are not in memory keeps only themselves waiting', async () => {
  await using stage = await openStage()
  const [{ ear, session }, other] = [stage.connect(), stage.connect(0)]

  for (let i = 1; i <= many; i++) stage.fanOut.subscribe(session, stage.app + i)
  stage.fanOut.subscribe(other.session, stage.app)

  await stage.sql`select from apps`
  await started(other.ear)
  expect(ear.revs('error').length).toBeLessThan(many / 2)
  await eventually(() => expect(ear.revs('error')).toHaveLength(many), { timeoutMs: 20_000 })
})

test('whoever claims many times to have seen the future keeps nobody waiting: one look answers all', async () => {
  await using stage = await openStage()
  const { crowd, answered } = gatherCrowd(stage)
  const [witness, other] = [stage.connect(0), stage.connect(0)]
  stage.fanOut.subscribe(witness.session, stage.app)
  await started(witness.ear)

  crowd.forEach(({ session }, i) => stage.fanOut.subscribe(session, stage.app, { after: 900_000_000 + i }))
  stage.fanOut.subscribe(other.session, stage.app, { after: 999_999_999 })

  await started(other.ear)
  await eventually(() => expect(answered('reset')).toBe(many), { timeoutMs: 20_000 })
})

test('whoever comes back to many places of a history keeps only themselves waiting, at these places too', async () => {
  await using stage = await openStage()
  const { crowd, answered } = gatherCrowd(stage)
  const other = stage.connect(0)
  const revs = await happened(stage, many + 1)

  crowd.forEach(({ session }, i) => stage.fanOut.subscribe(session, stage.app, { after: revs[i]! }))
  stage.fanOut.subscribe(other.session, stage.app, { after: revs[many - 1]! })

  await eventually(() => expect(other.ear.revs()).toEqual([revs[many]]))
  expect(answered('event')).toBeLessThan(many / 2)
  await eventually(() => expect(answered('event')).toBe(many), { timeoutMs: 20_000 })
})

test('what a client does not ask for any more is not read', async () => {
  await using stage = await openStage()
  const revs = await happened(stage, many + 1)
  const [{ ear, session }, witness] = [stage.connect(), stage.connect()]
  stage.fanOut.subscribe(witness.session, stage.app)
  await started(witness.ear)

  for (const after of revs.slice(0, many)) stage.fanOut.subscribe(session, stage.app, { after })

  await eventually(() => expect(ear.revs()).toEqual([revs[many]]))
  expect(stage.history.reads).toBeLessThan(10)
})
