import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import type { FairQueue } from '../../lib/fair-queue.ts'
import type { Epoch } from '../../log/epoch.ts'
import type { AppTopic } from './app-topic.ts'
import { current, reset, subscribed } from '../protocols/frames.ts'
import { ownKeyOf, type History } from './history.ts'
import { hubName, type Codec } from '../protocols/protocol.ts'
import { closeCodes } from '../sessions/session.ts'
import { SharedRead } from './shared-read.ts'
import type { TakeSnapshot } from './snapshot.ts'
import type { Subscription } from './subscription.ts'
import type { EncodedEvent, ReplayBuffers } from './replay-buffer.ts'

export interface ReplaysParts {
  epoch: Pick<Epoch, 'id'>
  history: History
  buffers: ReplayBuffers
  /** The queue for all reads of subscribers. */
  queue: FairQueue
  /** A replay pauses while the client has more unsent bytes than this. */
  replayBytes: number
  takeSnapshot: TakeSnapshot
  /** Refuses a subscription that has begun and is not answered yet. */
  refuse: (subscription: Subscription, error: unknown) => void
  /** Reads events of the app that other nodes have committed. */
  catchUp: (app: number) => Promise<void>
  log: Log
}

/** Where a subscription begins. */
interface Place {
  hidden: number
  head: number
  isForeign: boolean
  isFar: boolean
}

/** Encoded events of the log: all visible ones after `start`, up to `end`. */
interface Page {
  readonly start: number
  readonly end: number
  readonly events: readonly EncodedEvent[]
}

/** The most events of one read of the log. A guess: a quarter of a megabyte of typical ones. */
const largestPage = 256

/** Events of this size are encoded in one turn of the event loop: that takes some milliseconds. */
const encodedBytes = 128 * 1024

/**
 * Sends returning clients the events that they missed, from the topic's replay buffer or from the log, no faster than
 * they receive them, and joins each to the live events in the tick in which it has caught up. Clients that return
 * together share reads.
 */
export class Replays {
  readonly #parts: ReplaysParts
  readonly #pages = new Map<string, SharedRead<Page | null>>()

  constructor(parts: ReplaysParts) {
    this.#parts = parts
  }

  /**
   * Starts a subscription on an open topic. A client without a cursor gets the events after `head`, where the history
   * ends in the database. A client gets the frame `reset` where its cursor is beyond `head`, or before `hidden`, the rev up to
   * which it may not see the history, or `isForeign`, of another history; a client that asks for a snapshot gets that instead,
   * and also where it has no cursor or `isFar` behind.
   */
  begin(subscription: Subscription, { hidden, head, isForeign, isFar }: Place): void {
    const { session, app, appTopic, cursor } = subscription
    const { id: epoch } = this.#parts.epoch
    const { sent } = appTopic
    appTopic.addListener(session.codec)
    const isLost = cursor !== undefined && (cursor < hidden || cursor > Math.max(head, sent) || isForeign)
    if (subscription.snapshot !== undefined && (cursor === undefined || isLost || isFar)) {
      subscription.awaitsSnapshot = true
      this.resume(subscription)
    } else if (cursor === undefined && head > appTopic.sent) {
      // Events that this node has yet to publish are known to the client from another node.
      subscription.cursor = head
      session.send(subscribed(subscription, { rev: head, head_rev: head, epoch }))
      this.#wait(subscription)
    } else if (cursor === undefined || (cursor === appTopic.sent && !isForeign)) {
      session.send(subscribed(subscription, { rev: sent, head_rev: sent, epoch }))
      this.#goLive(subscription)
    } else if (isLost) {
      // Together: a client that got the first alone would go on as if it had everything.
      session.cork(() => {
        session.send(subscribed(subscription, { rev: sent, head_rev: sent, epoch }))
        session.send(reset(app, appTopic.sent))
      })
      this.#goLive(subscription)
    } else {
      session.send(subscribed(subscription, { rev: cursor, head_rev: Math.max(head, sent), epoch }))
      if (cursor > appTopic.sent) this.#wait(subscription)
      else this.resume(subscription)
    }
  }

  /** Waits until this node has the events that the client has got from another node. */
  #wait(subscription: Subscription): void {
    this.resume(subscription)
    this.#parts.catchUp(subscription.app).catch((error: unknown) => this.#fail(subscription, error))
  }

  /** Continues from the cursor. */
  resume(subscription: Subscription): void {
    subscription.stage = 'replaying'
    this.#run(subscription).catch((error: unknown) => this.#fail(subscription, error))
  }

  /** Suspends a subscription until `resume`, or for good. */
  hold(subscription: Subscription): void {
    if (subscription.stage === 'live') {
      const { session, topics } = subscription
      for (const topic of topics) session.leave(topic)
      subscription.cursor = subscription.appTopic.sent
    }
    subscription.stage = 'held'
  }

  /** Suspends a subscription whose right is gone, until `rejoin`. */
  suspend(subscription: Subscription): void {
    this.hold(subscription)
    subscription.stage = 'suspended'
  }

  /**
   * Resumes a subscription whose right has come back: sends the events after `rev`, and none before, which the topic
   * may yet have to publish.
   */
  rejoin(subscription: Subscription, rev: number): void {
    subscription.cursor = rev
    this.resume(subscription)
  }

  /** Starts subscriptions that the topic has caught up with. */
  onAdvance(appTopic: AppTopic): void {
    for (const subscription of appTopic.early) {
      if (subscription.cursor! > appTopic.sent) continue
      appTopic.early.delete(subscription)
      if (subscription.stage === 'early') this.resume(subscription)
    }
  }

  async #run(subscription: Subscription): Promise<void> {
    const run = ++subscription.run
    const { session, appTopic } = subscription
    if (subscription.awaitsSnapshot && !(await this.#sendSnapshot(subscription, run))) return
    while (isGoingOn(subscription, run)) {
      const cursor = subscription.cursor!
      if (cursor > appTopic.sent) {
        subscription.stage = 'early'
        appTopic.early.add(subscription)
        return
      }
      if (cursor === appTopic.sent) {
        session.send(current(appTopic.app, cursor))
        return this.#goLive(subscription)
      }
      if (session.bufferedBytes > this.#parts.replayBytes) {
        subscription.stage = 'paused'
        return
      }
      if (cursor >= appTopic.buffer(session.codec).start) this.#sendBuffered(subscription)
      else {
        const page = await this.#readShared(subscription, cursor)
        if (isGoingOn(subscription, run)) this.#sendPage(subscription, page)
      }
    }
  }

  /** False where the subscription has to wait for its client to receive other frames, or was ended or held meanwhile. */
  async #sendSnapshot(subscription: Subscription, run: number): Promise<boolean> {
    const { session, app, appTopic, snapshot: items = 0, wantsAgents: hasRuns } = subscription
    const { epoch, queue, replayBytes, takeSnapshot, refuse, catchUp } = this.#parts
    const take = async () => {
      const { state } = session
      if (state.state !== 'open' || !isGoingOn(subscription, run)) return null
      if (session.bufferedBytes > replayBytes) {
        subscription.stage = 'paused'
        return null
      }
      return takeSnapshot(app, state.principal, { items, hasRuns })
    }
    try {
      const taken = await queue.add(session.owner ?? 0, take)
      if (taken === null || !isGoingOn(subscription, run)) return false
      const { rev, shown } = taken
      const head_rev = Math.max(rev, appTopic.sent)
      session.send(subscribed(subscription, { rev, head_rev, epoch: epoch.id, snapshot: shown }))
      subscription.awaitsSnapshot = false
      subscription.cursor = rev
    } catch (error) {
      refuse(subscription, error)
      return false
    }
    if (subscription.cursor > appTopic.sent) catchUp(app).catch((error: unknown) => this.#fail(subscription, error))
    return true
  }

  #goLive(subscription: Subscription): void {
    const { session, topics } = subscription
    subscription.stage = 'live'
    for (const topic of topics) session.join(topic)
  }

  #sendBuffered(subscription: Subscription): void {
    const { session, appTopic } = subscription
    session.cork(() => {
      const events = appTopic.buffer(session.codec).after(subscription.cursor!)
      if (this.#sendEvents(subscription, events)) subscription.cursor = appTopic.sent
    })
  }

  #sendPage(subscription: Subscription, page: Page | null): void {
    const { session, app, appTopic } = subscription
    if (page === null) {
      const { sent } = appTopic
      session.send(reset(app, sent))
      subscription.cursor = sent
      return
    }
    const { events, start, end } = page
    session.cork(() => {
      const isWhole = this.#sendEvents(subscription, events)
      subscription.pageSize = isWhole
        ? Math.min(subscription.pageSize * 2, largestPage)
        : Math.max(1, subscription.pageSize / 4)
      if (!isWhole) return
      // Where the last events are not visible, the client must learn the rev: the next page builds on it.
      if ((events.at(-1)?.rev ?? start) < end) session.send(current(app, end))
      subscription.cursor = end
    })
  }

  /** Sends as many events as the client can take now, at least one; true where all were sent. */
  #sendEvents(subscription: Subscription, events: Iterable<EncodedEvent>): boolean {
    const { session, topics } = subscription
    let isFull = false
    for (const { rev, topic, bytes, own } of events) {
      if (!topics.includes(topic)) continue
      if (isFull) return false
      const key = own?.user === session.user ? own?.key : undefined
      session.sendBytes((key !== undefined && session.codec.withKey?.(bytes, key)) || bytes)
      subscription.cursor = rev
      isFull = session.bufferedBytes > this.#parts.replayBytes
    }
    return true
  }

  /** One read for all subscriptions with equal cursors; null where the history after the cursor is gone. */
  #readShared(subscription: Subscription, cursor: number): Promise<Page | null> {
    const { session, appTopic, run, pageSize } = subscription
    const { codec } = session
    const key = `${codec.topic(appTopic.app, '')}:${appTopic.changes}:${cursor}:${pageSize}`
    const read = () => this.#read(appTopic, codec, cursor, pageSize).finally(() => this.#pages.delete(key))
    const sharedRead = this.#pages.get(key) ?? new SharedRead(read)
    this.#pages.set(key, sharedRead)
    sharedRead.waiting++
    void this.#parts.queue.add(session.owner ?? 0, async () => {
      // A subscription that has ended or restarted does not need the read.
      if (isGoingOn(subscription, run)) await sharedRead.start()
      if (--sharedRead.waiting === 0 && this.#pages.get(key) === sharedRead) this.#pages.delete(key)
    })
    return sharedRead.result
  }

  async #read(appTopic: AppTopic, codec: Codec, start: number, size: number): Promise<Page | null> {
    const { history, buffers } = this.#parts
    const buffer = () => appTopic.buffer(codec)
    // Another subscription has read up to here while this one waited in the queue.
    if (appTopic.hasListeners(codec) && start >= buffer().start) return { start, end: start, events: [] }
    const { changes } = appTopic
    const read = await history.read(appTopic.app, start, size)
    if (!appTopic.hasListeners(codec)) return { start, end: start, events: [] }
    // Committed events that are not yet published will reach all live subscribers.
    const events = read.filter(event => event.rev <= appTopic.sent)
    // A gap: the log no longer has what followed; or there never was an event at `start`, in a database restored from
    // an older backup.
    if (events.length === 0 || events[0]!.prev !== start) return null
    const encoded: EncodedEvent[] = []
    let sentRev = start
    let sizeBytes = 0
    for (const event of events) {
      if (sizeBytes > encodedBytes) {
        sizeBytes = 0
        await nextTurn()
      }
      const frame = history.toFrame(event, sentRev, appTopic.state)
      if (frame === null) continue
      sentRev = event.rev
      const bytes = history.encode(codec, event, frame)
      sizeBytes += bytes?.byteLength ?? 0
      if (bytes !== null)
        encoded.push({
          rev: event.rev,
          topic: codec.topic(appTopic.app, frame[hubName] ?? event.type),
          bytes,
          own: ownKeyOf(event),
        })
    }
    // As after the read: the last subscriber may have gone meanwhile.
    if (!appTopic.hasListeners(codec)) return { start, end: start, events: [] }
    const end = events.at(-1)!.rev
    const bufferStart = buffer().start
    // An item that changed meanwhile may have been read in its old version, which must not be kept.
    if (start < bufferStart && end >= bufferStart && appTopic.changes === changes)
      buffers.prepend(buffer(), start, upToBuffer(appTopic.app, codec, { start, end: bufferStart, events: encoded }))
    return { start, end, events: encoded }
  }

  /** Ends the session of a failed replay: its client reconnects and resumes from its cursor. */
  #fail({ session, app, stage }: Subscription, error: unknown): void {
    if (stage === 'ended') return
    this.#parts.log.warn({ app, error }, 'A replay failed')
    session.close(closeCodes.failed, 'reconnect')
  }
}

/**
 * The events of a page up to where a buffer begins. Where the last visible one before that is gone from the log, which
 * the buffer builds on, clients get its rev alone.
 */
function upToBuffer(app: number, codec: Codec, { start, end, events }: Page): EncodedEvent[] {
  const before = events.filter(({ rev }) => rev <= end)
  if ((before.at(-1)?.rev ?? start) === end) return before
  const frame = current(app, end)
  const bytes = codec.encode(frame)
  return bytes === null ? before : [...before, { rev: end, topic: codec.topic(app, frame.type), bytes }]
}

function isGoingOn({ stage, run, session }: Subscription, begun: number): boolean {
  return stage === 'replaying' && run === begun && !session.isClosed
}
