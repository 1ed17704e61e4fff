import type { Log } from '../../lib/log.ts'
import type { FairQueue } from '../../lib/fair-queue.ts'
import type { AppTopic } from './app-topic.ts'
import { current, reset, subscribed } from '../protocols/frames.ts'
import type { History } from './history.ts'
import { hubName, type Codec } from '../protocols/protocol.ts'
import { closeCodes } from '../sessions/session.ts'
import { SharedRead } from './shared-read.ts'
import type { Subscription } from './subscription.ts'
import type { EncodedEvent, ReplayBuffers } from './replay-buffer.ts'

export interface ReplaysParts {
  history: History
  buffers: ReplayBuffers
  /** For all reads of subscribers. */
  queue: FairQueue
  /** A replay pauses while more than this waits for its client. */
  replayBytes: number
  /** Asks for events of the app that other nodes committed. */
  catchUp: (app: number) => Promise<void>
  log: Log
}

/** Events of the log, encoded: all that are visible after `start`, up to `end`. */
interface Page {
  readonly start: number
  readonly end: number
  readonly events: readonly EncodedEvent[]
}

/** Events that are read from the log at once, at most. A guess: a quarter of a megabyte of typical ones. */
const largestPage = 256

/**
 * Sends clients that come back what they missed, from the replay buffer of the topic or from the log, no faster than
 * they take it, and lets each join the live events in the very tick in which it has got as far as these. Clients that
 * come back together share what is read.
 */
export class Replays {
  readonly #parts: ReplaysParts
  readonly #pages = new Map<string, SharedRead<Page | null>>()

  constructor(parts: ReplaysParts) {
    this.#parts = parts
  }

  /**
   * Starts a subscription on an open topic. A client that asks for no history gets what comes after `head`, where the
   * history ends in the database. One that asks for revs up to `hidden`, which it may not see, or for what comes after
   * `head`, is told to load the app anew.
   */
  begin(subscription: Subscription, { hidden, head }: { hidden: number; head: number }): void {
    const { session, app, cursor } = subscription
    const appTopic = appTopicOf(subscription)
    appTopic.addListener(session.codec)
    if (cursor === undefined && head > appTopic.sent) {
      // What is not published here yet the client has from another node: it is not sent again.
      subscription.cursor = head
      session.send(subscribed(subscription, head, head))
      this.#wait(subscription)
    } else if (cursor === undefined || cursor === appTopic.sent) {
      session.send(subscribed(subscription, appTopic.sent, appTopic.sent))
      this.#goLive(subscription)
    } else if (cursor < hidden || cursor > Math.max(head, appTopic.sent)) {
      session.send(subscribed(subscription, appTopic.sent, appTopic.sent))
      session.send(reset(app, appTopic.sent))
      this.#goLive(subscription)
    } else {
      session.send(subscribed(subscription, cursor, Math.max(head, appTopic.sent)))
      if (cursor > appTopic.sent) this.#wait(subscription)
      else this.resume(subscription)
    }
  }

  /** Another node was faster, and this one has not heard of it yet. */
  #wait(subscription: Subscription): void {
    this.resume(subscription)
    this.#parts.catchUp(subscription.app).catch((error: unknown) => this.#fail(subscription, error))
  }

  /** Goes on from the cursor. */
  resume(subscription: Subscription): void {
    subscription.stage = 'replaying'
    this.#run(subscription).catch((error: unknown) => this.#fail(subscription, error))
  }

  /** Stops the events of a subscription until `resume`, or for good. */
  hold(subscription: Subscription): void {
    if (subscription.stage === 'live') {
      const { session, topics } = subscription
      for (const topic of topics) session.leave(topic)
      subscription.cursor = appTopicOf(subscription).sent
    }
    subscription.stage = 'held'
  }

  /** The right is gone: nothing is sent until `rejoin`. */
  rest(subscription: Subscription): void {
    this.hold(subscription)
    subscription.stage = 'resting'
  }

  /**
   * The right has come back: what followed `rev` is sent, and nothing of what came between, which the topic may yet have
   * to publish.
   */
  rejoin(subscription: Subscription, rev: number): void {
    subscription.cursor = rev
    this.resume(subscription)
  }

  /** The topic has moved on: it may have reached subscriptions that were ahead of it. */
  onAdvance(appTopic: AppTopic): void {
    for (const subscription of appTopic.early) {
      if (subscription.cursor! > appTopic.sent) continue
      appTopic.early.delete(subscription)
      if (subscription.stage === 'early') this.resume(subscription)
    }
  }

  async #run(subscription: Subscription): Promise<void> {
    const run = ++subscription.run
    const { session } = subscription
    const appTopic = appTopicOf(subscription)
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

  #goLive(subscription: Subscription): void {
    const { session, topics } = subscription
    subscription.stage = 'live'
    for (const topic of topics) session.join(topic)
  }

  #sendBuffered(subscription: Subscription): void {
    const appTopic = appTopicOf(subscription)
    const { session } = subscription
    session.cork(() => {
      const lines = appTopic.buffer(session.codec).after(subscription.cursor!)
      if (this.#sendEvents(subscription, lines)) subscription.cursor = appTopic.sent
    })
  }

  #sendPage(subscription: Subscription, page: Page | null): void {
    const { session, app } = subscription
    if (page === null) {
      const { sent } = appTopicOf(subscription)
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
      // Where the last events are not visible, the client must know that it is past them: the next page builds on it.
      if ((events.at(-1)?.rev ?? start) < end) session.send(current(app, end))
      subscription.cursor = end
    })
  }

  /** As many as the client takes now, at least one; true if these are all. */
  #sendEvents(subscription: Subscription, lines: Iterable<EncodedEvent>): boolean {
    const { session, topics } = subscription
    let isFull = false
    for (const { rev, topic, bytes } of lines) {
      if (!topics.includes(topic)) continue
      if (isFull) return false
      session.sendBytes(bytes)
      subscription.cursor = rev
      isFull = session.bufferedBytes > this.#parts.replayBytes
    }
    return true
  }

  /** One read for all subscriptions at the same cursor and time; null where the history after it is gone. */
  #readShared(subscription: Subscription, cursor: number): Promise<Page | null> {
    const { session, run, pageSize } = subscription
    const { codec } = session
    const appTopic = appTopicOf(subscription)
    const key = `${codec.topic(appTopic.app, '')}:${appTopic.changes}:${cursor}:${pageSize}`
    const read = () => this.#read(appTopic, codec, cursor, pageSize).finally(() => this.#pages.delete(key))
    const reading = this.#pages.get(key) ?? new SharedRead(read)
    this.#pages.set(key, reading)
    reading.waiting++
    void this.#parts.queue.add(session.owner ?? 0, async () => {
      // A subscription that ended, or asked for something else since, needs it no more.
      if (isGoingOn(subscription, run)) await reading.start()
      if (--reading.waiting === 0 && this.#pages.get(key) === reading) this.#pages.delete(key)
    })
    return reading.result
  }

  async #read(appTopic: AppTopic, codec: Codec, start: number, size: number): Promise<Page | null> {
    const { history, buffers } = this.#parts
    const tail = () => appTopic.buffer(codec)
    // Another subscription has read up to here while this one waited for its turn.
    if (appTopic.hasListeners(codec) && start >= tail().start) return { start, end: start, events: [] }
    const { changes } = appTopic
    const read = await history.read(appTopic.app, start, size)
    if (!appTopic.hasListeners(codec)) return { start, end: start, events: [] }
    // What was committed and not yet published will reach all live subscribers.
    const events = read.filter(event => event.rev <= appTopic.sent)
    // A gap: what followed is gone from the log; or no event ever was at `start`, in a database that was restored from a
    // backup made before it.
    if (events.length === 0 || events[0]!.prev !== start) return null
    const encoded: EncodedEvent[] = []
    let told = start
    for (const event of events) {
      const frame = history.toFrame(event, told, appTopic.state)
      if (frame === null) continue
      told = event.rev
      const bytes = history.encode(codec, event, frame)
      if (bytes !== null)
        encoded.push({ rev: event.rev, topic: codec.topic(appTopic.app, frame[hubName] ?? event.type), bytes })
    }
    const end = events.at(-1)!.rev
    const joint = tail().start
    // What was changed meanwhile may have been read as it was before, which must not be kept.
    if (start < joint && end >= joint && appTopic.changes === changes)
      buffers.prepend(tail(), start, joined(appTopic.app, codec, { start, end: joint, events: encoded }))
    return { start, end, events: encoded }
  }

  /** The client finds its way back by itself: it reconnects and resumes from what it has seen. */
  #fail({ session, app, stage }: Subscription, error: unknown): void {
    if (stage === 'ended') return
    this.#parts.log.warn({ app, error }, 'A replay failed')
    session.close(closeCodes.failed, 'reconnect')
  }
}

/**
 * The events of a page up to where a buffer begins. The last visible one before that may be gone from the log by now,
 * and the buffer builds on it: then clients get its rev alone.
 */
function joined(app: number, codec: Codec, { start, end, events }: Page): EncodedEvent[] {
  const before = events.filter(({ rev }) => rev <= end)
  if ((before.at(-1)?.rev ?? start) === end) return before
  const frame = current(app, end)
  const bytes = codec.encode(frame)
  return bytes === null ? before : [...before, { rev: end, topic: codec.topic(app, frame.type), bytes }]
}

function isGoingOn({ stage, run, session }: Subscription, begun: number): boolean {
  return stage === 'replaying' && run === begun && !session.isClosed
}

function appTopicOf({ appTopic }: Subscription): AppTopic {
  if (appTopic === undefined) throw new Error('A subscription was started before its app was there')
  return appTopic
}
