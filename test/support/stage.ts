import { Apps } from '../../src/engine/apps.ts'
import { OtherNodes } from '../../src/engine/nodes/other-nodes.ts'
import { command } from '../../src/engine/command.ts'
import { SharedLog } from '../../src/log/shared-log.ts'
import { event } from '../../src/engine/event.ts'
import { CommitConnection } from '../../src/engine/commit/connection.ts'
import { UserCache, type User } from '../../src/auth/user-cache.ts'
import type { Access, AppRow } from '../../src/engine/state.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { History } from '../../src/realtime/topics/history.ts'
import { ReplayBuffers } from '../../src/realtime/topics/replay-buffer.ts'
import { FanOut } from '../../src/realtime/fan-out.ts'
import { ClientOrigin } from '../../src/realtime/sessions/client-origins.ts'
import { findCodec, type Frame } from '../../src/realtime/protocols/protocol.ts'
import { Session, type Socket } from '../../src/realtime/sessions/session.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { openSql } from '../../src/postgres/sql.ts'
import { createDatabase } from './database.ts'

const noted = event<null>({ type: 'noted', entity: 'message', isActivity: true, present: () => ({}) })
const opened = event<AppRow>({
  type: 'opened',
  entity: 'app',
  isActivity: true,
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
const codec = findCodec('json', 'number')!
const clientOrigin = new ClientOrigin('', 0)

/** Counts how often it asks the database. */
class CountedHistory extends History {
  reads = 0

  override read(...asked: Parameters<History['read']>) {
    this.reads++
    return super.read(...asked)
  }
}

/** A socket whose other end the test holds. */
export class Ear implements Socket {
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

export type Stage = Awaited<ReturnType<typeof openStage>>

const origin = () => ''
const actor = ({ id }: User) => ({ id })

/** Real actors on a real database, with sessions whose sockets are in the test's hands. */
export async function openStage({ memoryBytes = 100_000_000 } = {}) {
  const database = await createDatabase()
  const connect = (connections: number) => openSql({ url: database.url, connections, statementTimeoutMs: 5_000 })
  const sql = connect(3)
  const reading = connect(1)
  await prepareEvents(sql, new Date())
  const log = createLog('error')
  const sharedLog = new SharedLog(sql)
  await sharedLog.start()
  const userCache = new UserCache(sql)
  await userCache.load([0, -1])
  const connections = [1, 2].map(() => new CommitConnection({ open: () => connect(1), deadlineMs: 10_000 }))
  const events = new Map([noted, opened].map(kind => [kind.type, kind as never]))
  const ears: Ear[] = []
  const apps = new Apps({
    sql,
    sharedLog,
    userCache,
    events,
    projections: [],
    recent: async () => [],
    groupConnections: connections.slice(1),
    apartConnections: connections.slice(0, 1),
    flushLimit: 100,
    sharingMs: 10,
    mailboxLimit: 1_000,
    totalLimit: 1_000,
    otherNodes: new OtherNodes(() => performance.now()),
    isShared: () => false,
    memoryBytes,
    observe: () => {},
    observeTime: () => {},
    now: () => new Date(),
    clock: systemClock,
    log,
  })
  const history = new CountedHistory({ sql: reading, events, userCache, origin, actor, log })
  const fanOut = new FanOut({
    apps,
    userCache,
    history,
    buffers: new ReplayBuffers(1_000_000),
    replayBytes: 1_000,
    epoch: { id: 'epoch', start: 0 },
    clock: systemClock,
    log,
    sessionsOf: () => [],
    takeSnapshot: () => Promise.reject(new Error('No client here asks for a snapshot')),
    publish: (topic, bytes) => ears.forEach(ear => ear.topics.has(topic) && ear.send(bytes)),
    policy: {
      hiddenUntil: () => 0,
      // As in the server: whoever is not in memory may do nothing.
      canRead: ({ app }, user) =>
        userCache.find(user) !== undefined && (app.access !== 'none' || user === app.created_by),
    },
  })
  apps.onCommit((commit, state) => fanOut.onCommit(commit, state))
  const [user] = await sql<{ id: number }[]>`
    insert into users (display_name, created_at) values ('Ann', now()) returning id`
  const addApp = async () => {
    const [app] = await sql<{ id: number }[]>`
      insert into apps (type, access, rev, head_rev, created_at, created_by)
      values ('chat', 'read', nextval('numbers'), currval('numbers'), now(), 0) returning id`
    return app!.id
  }
  const app = await addApp()
  return {
    sql,
    userCache,
    fanOut,
    history,
    app,
    apps,
    addApp,
    user: user!.id,
    look: () => apps.remoteCommits.poll(),
    note: () => apps.run(note, app, by, undefined),
    open: (access: Access) => apps.run(open, app, by, access),
    /** Nothing is read from the log until `run` has ended. */
    whileHistoryWaits: (run: () => Promise<unknown>) => reading.begin(run),
    connect(as = user!.id) {
      const ear = new Ear()
      const session = new Session(ear, { codec, clientOrigin }, 0)
      session.open({ kind: 'user', user: as, credential: '' }, Number.POSITIVE_INFINITY)
      ears.push(ear)
      return { ear, session }
    },
    async [Symbol.asyncDispose]() {
      await apps.idle()
      await Promise.all(connections.map(connection => connection.close()))
      await Promise.all([sql, reading].map(pool => pool.end({ timeout: 1 })))
      await database[Symbol.asyncDispose]()
    },
  }
}
