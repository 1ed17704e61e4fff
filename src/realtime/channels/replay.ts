import type { Log } from '../../lib/log.ts'
import type { Turns } from '../../lib/turns.ts'
import type { Channel } from './channel.ts'
import { current, reset, subscribed } from '../frames.ts'
import type { History } from './history.ts'
import { hubName, type Form } from '../protocol.ts'
import { closeCodes } from '../session.ts'
import { Reading } from './reading.ts'
import type { Subscription } from './subscription.ts'
import type { Line, Tails } from './tail.ts'

export interface ReplaysParts {
  history: History
  tails: Tails
  /** For whatever subscribers ask of the database. */
  turns: Turns
  /** A replay pauses while more than this waits for its client. */
  replayBytes: number
  /** Asks for events of the app that other nodes committed. */
  look: (app: number) => Promise<void>
  log: Log
}

/** Events of the log, encoded: all that were told after `start`, up to `end`. */
interface Page {
  readonly start: number
  readonly end: number
  readonly lines: readonly Line[]
}

/** Events that are read from the log at once, at most. A guess: a quarter of a megabyte of typical ones. */
const largestPage = 256

/**
 * Tells clients that come back what they missed, from the tail that the channel keeps or from the log, no faster than
 * they take it, and lets each join the live events in the very tick in which it has got as far as these. Clients that
 * come back together share what is read.
 */
export class Replays {
  readonly #parts: ReplaysParts
  readonly #pages = new Map<string, Reading<Page | null>>()

  constructor(parts: ReplaysParts) {
    this.#parts = parts
  }

  /**
   * Starts a subscription on an open channel: whoever asks for no history is told what comes after `head`, and whoever asks for what is
   * `hidden` from them, the history up to that rev, or for what comes after `head`, where it ends in the database, is
   * told to load the app anew.
   */
  begin(subscription: Subscription, { hidden, head }: { hidden: number; head: number }): void {
    const { session, app, cursor } = subscription
    const channel = channelOf(subscription)
    channel.admit(session.form)
    if (cursor === undefined && head > channel.sent) {
      // What is not told here yet was told elsewhere: it is not told again to this one.
      subscription.cursor = head
      session.send(subscribed(subscription, head, head))
      this.#wait(subscription)
    } else if (cursor === undefined || cursor === channel.sent) {
      session.send(subscribed(subscription, channel.sent, channel.sent))
      this.#goLive(subscription)
    } else if (cursor < hidden || cursor > Math.max(head, channel.sent)) {
      session.send(subscribed(subscription, channel.sent, channel.sent))
      session.send(reset(app, channel.sent))
      this.#goLive(subscription)
    } else {
      session.send(subscribed(subscription, cursor, Math.max(head, channel.sent)))
      if (cursor > channel.sent) this.#wait(subscription)
      else this.resume(subscription)
    }
  }

  /** Another node was faster, and this one has not heard of it yet. */
  #wait(subscription: Subscription): void {
    this.resume(subscription)
    this.#parts.look(subscription.app).catch((error: unknown) => this.#fail(subscription, error))
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
      subscription.cursor = channelOf(subscription).sent
    }
    subscription.stage = 'held'
  }

  /** The right is gone: nothing is told until `rejoin`. */
  rest(subscription: Subscription): void {
    this.hold(subscription)
    subscription.stage = 'resting'
  }

  /**
   * The right has come back: what followed `rev` is told, and nothing of what came between. The channel may yet have to
   * tell others of that.
   */
  rejoin(subscription: Subscription, rev: number): void {
    subscription.cursor = rev
    this.resume(subscription)
  }

  /** The channel has moved on: it may have reached those who were ahead of it. */
  moved(channel: Channel): void {
    for (const subscription of channel.early) {
      if (subscription.cursor! > channel.sent) continue
      channel.early.delete(subscription)
      if (subscription.stage === 'early') this.resume(subscription)
    }
  }

  async #run(subscription: Subscription): Promise<void> {
    const run = ++subscription.run
    const { session } = subscription
    const channel = channelOf(subscription)
    while (isGoingOn(subscription, run)) {
      const cursor = subscription.cursor!
      if (cursor > channel.sent) {
        subscription.stage = 'early'
        channel.early.add(subscription)
        return
      }
      if (cursor === channel.sent) {
        session.send(current(channel.app, cursor))
        return this.#goLive(subscription)
      }
      if (session.bufferedBytes > this.#parts.replayBytes) {
        subscription.stage = 'paused'
        return
      }
      if (cursor >= channel.tail(session.form).start) this.#sendTail(subscription)
      else {
        const page = await this.#share(subscription, cursor)
        if (isGoingOn(subscription, run)) this.#sendPage(subscription, page)
      }
    }
  }

  #goLive(subscription: Subscription): void {
    const { session, topics } = subscription
    subscription.stage = 'live'
    for (const topic of topics) session.join(topic)
  }

  #sendTail(subscription: Subscription): void {
    const channel = channelOf(subscription)
    const { session } = subscription
    session.together(() => {
      const lines = channel.tail(session.form).after(subscription.cursor!)
      if (this.#sendLines(subscription, lines)) subscription.cursor = channel.sent
    })
  }

  #sendPage(subscription: Subscription, page: Page | null): void {
    const { session, app } = subscription
    if (page === null) {
      const { sent } = channelOf(subscription)
      session.send(reset(app, sent))
      subscription.cursor = sent
      return
    }
    const { lines, start, end } = page
    session.together(() => {
      const isWhole = this.#sendLines(subscription, lines)
      subscription.pageSize = isWhole
        ? Math.min(subscription.pageSize * 2, largestPage)
        : Math.max(1, subscription.pageSize / 4)
      if (!isWhole) return
      // Where nobody is told of the last events, the client must know that it is past them: the next page builds on it.
      if ((lines.at(-1)?.rev ?? start) < end) session.send(current(app, end))
      subscription.cursor = end
    })
  }

  /** As many as the client takes now, at least one; true if these are all. */
  #sendLines(subscription: Subscription, lines: Iterable<Line>): boolean {
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

  /** One read for all who stand at the same place and time; null where the history after it is gone. */
  #share(subscription: Subscription, cursor: number): Promise<Page | null> {
    const { session, run, pageSize } = subscription
    const { form } = session
    const channel = channelOf(subscription)
    const key = `${form.topic(channel.app, '')}:${channel.changes}:${cursor}:${pageSize}`
    const read = () => this.#read(channel, form, cursor, pageSize).finally(() => this.#pages.delete(key))
    const reading = this.#pages.get(key) ?? new Reading(read)
    this.#pages.set(key, reading)
    reading.waiting++
    void this.#parts.turns.add(session.owner ?? 0, async () => {
      // Whoever has gone, or asked for something else since, needs it no more.
      if (isGoingOn(subscription, run)) await reading.begin()
      if (--reading.waiting === 0 && this.#pages.get(key) === reading) this.#pages.delete(key)
    })
    return reading.found
  }

  async #read(channel: Channel, form: Form, start: number, size: number): Promise<Page | null> {
    const { history, tails } = this.#parts
    const tail = () => channel.tail(form)
    // Somebody else has read up to here while this one waited for its turn.
    if (channel.isHeard(form) && start >= tail().start) return { start, end: start, lines: [] }
    const { changes } = channel
    const read = await history.read(channel.app, start, size)
    if (!channel.isHeard(form)) return { start, end: start, lines: [] }
    // What was committed and not yet told will be told to everybody.
    const events = read.filter(event => event.rev <= channel.sent)
    // A gap: what followed is gone from the log; or no event ever was at `start`, in a database that was restored from a
    // backup made before it.
    if (events.length === 0 || events[0]!.prev !== start) return null
    const lines: Line[] = []
    let told = start
    for (const event of events) {
      const frame = history.toFrame(event, told, channel.state)
      if (frame === null) continue
      told = event.rev
      const bytes = history.encode(form, event, frame)
      if (bytes !== null)
        lines.push({ rev: event.rev, topic: form.topic(channel.app, frame[hubName] ?? event.type), bytes })
    }
    const end = events.at(-1)!.rev
    const joint = tail().start
    // What was changed meanwhile may have been read as it was before, which nobody else is to see.
    if (start < joint && end >= joint && channel.changes === changes)
      tails.prepend(tail(), start, joined(channel.app, form, { start, end: joint, lines }))
    return { start, end, lines }
  }

  /** The client finds its way back by itself: it reconnects and resumes from what it has seen. */
  #fail({ session, app, stage }: Subscription, error: unknown): void {
    if (stage === 'ended') return
    this.#parts.log.warn({ app, error }, 'A replay failed')
    session.close(closeCodes.failed, 'reconnect')
  }
}

/**
 * The events of a page up to where a tail begins. What was last told before that may be gone from the log by now, and
 * the tail builds on it: then clients hear that they are past it.
 */
function joined(app: number, form: Form, { start, end, lines }: Page): Line[] {
  const before = lines.filter(({ rev }) => rev <= end)
  if ((before.at(-1)?.rev ?? start) === end) return before
  const frame = current(app, end)
  const bytes = form.encode(frame)
  return bytes === null ? before : [...before, { rev: end, topic: form.topic(app, frame.type), bytes }]
}

function isGoingOn({ stage, run, session }: Subscription, begun: number): boolean {
  return stage === 'replaying' && run === begun && !session.isClosed
}

function channelOf({ channel }: Subscription): Channel {
  if (channel === undefined) throw new Error('A subscription was started before its app was there')
  return channel
}
