import type { Apps } from '../actors/apps.ts'
import type { AppEvent } from '../actors/event.ts'
import type { People } from '../actors/people.ts'
import type { AppRow, AppState } from '../actors/state.ts'
import { NotFound, Problem } from '../lib/errors.ts'
import { Turns } from '../lib/turns.ts'
import { Channel, type ChannelParts } from './channels/channel.ts'
import { refusal, unsubscribed, type Ending } from './frames.ts'
import { Replays } from './channels/replay.ts'
import type { Frame } from './protocol.ts'
import { closeCodes, type Session } from './session.ts'
import { Subscription, type Asked } from './channels/subscription.ts'
import { tellEach } from './telling.ts'

/** Decides who may hear of an app; the person is in memory when it is asked. */
export type CanRead = (state: AppState, user: number) => boolean

/** The rev up to which an app's history is hidden from somebody; 0 for none of it. */
export type HiddenUntil = (state: AppState, user: number) => number

export interface FanOutParts extends Omit<ChannelParts, 'moved'> {
  apps: Apps
  people: People
  canRead: CanRead
  hiddenUntil: HiddenUntil
  replayBytes: number
  /** Told when the first one here wants to see agents at work in an app, and when nobody does any more. */
  agentAudience?: ((app: number, isThere: boolean) => void) | undefined
}

/**
 * Subscriptions that read from the database at one time, be it apps or history: a thousand clients that come back at once
 * must not take it from all others.
 */
const readsAtOnce = 4

/** Clients for which more than this waits are not shown what has no history. A guess. */
const volatileBytes = 64 * 1024

/**
 * Committed events → the sessions that may see them. A channel for each app with subscribers; rights are looked at
 * when a subscription starts, and again before anything is told that follows a change of them.
 */
export class FanOut {
  readonly #parts: FanOutParts
  readonly #channels = new Map<number, Channel>()
  /** Apps in which somebody wants to see agents at work, with how many do. */
  readonly #agentAudiences = new Map<number, number>()
  readonly #turns = new Turns(readsAtOnce)
  readonly #replays: Replays

  constructor(parts: FanOutParts) {
    this.#parts = parts
    this.#replays = new Replays({ ...parts, turns: this.#turns, look: app => parts.apps.look([app]) })
  }

  /** Apps with subscribers. */
  get size(): number {
    return this.#channels.size
  }

  /** Takes what was committed, as `Apps.listen` gives it. */
  hear(state: AppState, events: readonly AppEvent[]): void {
    const channel = this.#channels.get(state.app.id)
    if (channel === undefined || !channel.isOpen) return
    // Before the events are told: whoever has just lost the right to them must not see them.
    this.#review(channel, state, events)
    channel.hear(events, state)
  }

  /**
   * Starts telling a session of an app: what followed `after`, then what happens. Answers by one frame, `subscribed` or
   * a refusal, unless it is ended before. A second subscription to the same app takes the place of the first.
   */
  subscribe(session: Session, app: number, asked: Asked = {}): void {
    const before = session.subscriptions.get(app)
    if (before !== undefined) this.#end(before)
    // Such clients hear of everything in the app, so the topic is the same for every event.
    this.#start(new Subscription(session, app, { ...asked, topics: [session.form.topic(app, '')] }))
  }

  /**
   * Starts telling a session of one kind of event of an app, from now on. True when it does, false where the app is
   * not there or not visible. Answers at once where the session hears of the app already. It rests while the right is
   * gone, for as long as the session lasts.
   */
  follow(session: Session, app: number, event: string): boolean | Promise<boolean> {
    const topic = session.form.topic(app, event)
    const subscription = session.subscriptions.get(app)
    if (subscription === undefined) {
      const first = new Subscription(session, app, { topics: [topic], isLasting: true })
      first.admission = Promise.withResolvers()
      this.#start(first)
      return first.admission.promise
    }
    if (subscription.stage === 'resting') return false
    if (!subscription.topics.includes(topic)) {
      subscription.topics.push(topic)
      if (subscription.stage === 'live') session.join(topic)
    }
    return subscription.stage === 'opening' ? subscription.admission!.promise : true
  }

  /** Ends what `follow` started. */
  unfollow(session: Session, app: number, event: string): void {
    const subscription = session.subscriptions.get(app)
    const topic = session.form.topic(app, event)
    const at = subscription?.topics.indexOf(topic) ?? -1
    if (subscription === undefined || at === -1) return
    if (subscription.topics.length === 1) return this.#end(subscription)
    subscription.topics.splice(at, 1)
    if (subscription.stage === 'live') session.leave(topic)
  }

  unsubscribe(session: Session, app: number): void {
    session.send(unsubscribed(app, 'requested'))
    const subscription = session.subscriptions.get(app)
    if (subscription !== undefined) this.#end(subscription)
  }

  /** The session has ended. */
  leave(session: Session): void {
    for (const subscription of session.subscriptions.values()) this.#end(subscription)
  }

  /** The client has taken some of what waited for it. */
  drained(session: Session): void {
    for (const subscription of session.subscriptions.values()) {
      if (subscription.stage === 'paused') this.#replays.resume(subscription)
    }
  }

  /** Looks at the rights of a session again, for changes that belong to no app. The person is in memory. */
  review(session: Session): void {
    for (const subscription of session.subscriptions.values()) {
      if (subscription.channel?.isOpen) this.#check(subscription, subscription.channel.state, [])
    }
  }

  /** True where somebody is subscribed to the app. */
  isHeard(app: number): boolean {
    return this.#channels.get(app)?.isOpen === true
  }

  /** Tells those who are live in an app what is no part of its history. */
  mention(app: number, frame: Frame): void {
    if (this.isHeard(app)) this.#channels.get(app)!.mention(frame)
  }

  /** True where somebody here wants to see agents at work in the app. */
  seesAgents(app: number): boolean {
    return this.#agentAudiences.has(app)
  }

  /**
   * Shows those who asked for it, and are live in an app, what an agent does there. It has no history: a client that does
   * not keep up misses it.
   */
  showAgents(app: number, frame: Frame): void {
    if (!this.seesAgents(app)) return
    const sessions: Session[] = []
    for (const { hearsAgents, stage, session } of this.#channels.get(app)?.subscriptions ?? []) {
      if (hearsAgents && stage === 'live' && session.bufferedBytes < volatileBytes) sessions.push(session)
    }
    tellEach(sessions, frame, this.#parts.log)
  }

  #start(subscription: Subscription): void {
    if (subscription.hearsAgents) this.#countAgentAudience(subscription.app, 1)
    subscription.session.subscriptions.set(subscription.app, subscription)
    this.#admit(subscription).catch((error: unknown) => this.#refuse(subscription, error))
  }

  async #admit(subscription: Subscription): Promise<void> {
    const { apps, people, canRead, hiddenUntil } = this.#parts
    const { session, app, cursor } = subscription
    const channel = this.#join(subscription)
    if (!channel.isOpen) await this.#inTurn(subscription, () => channel.open())
    // What a client wants to follow may be ahead of this node: what it has seen, though it may be mistaken; or, where it
    // does not say, all that it may have read or heard elsewhere. Before the rights, so that these are as they are now.
    const head = cursor === undefined || cursor > channel.sent ? await apps.head(app) : channel.sent
    const { user } = session
    if (user !== undefined && people.find(user) === undefined) await people.load([user])
    if (apps.current(app) === undefined) await apps.state(app)
    // It may be being loaded anew at this moment.
    while (subscription.stage === 'opening' && apps.peek(app) === undefined) await apps.state(app)
    if (subscription.stage !== 'opening' || user === undefined) return
    const state = apps.peek(app)!
    if (!canRead(state, user)) throw NotFound()
    this.#replays.begin(subscription, { hidden: hiddenUntil(state, user), head })
    subscription.admission?.resolve(true)
  }

  /** What takes the database, while the subscription is still wanted; of each user behind what this one has asked before. */
  #inTurn<Result>(subscription: Subscription, read: () => Promise<Result>): Promise<Result | undefined> {
    const { session } = subscription
    return this.#turns.add(session.owner ?? 0, async () => (subscription.stage === 'opening' ? read() : undefined))
  }

  #countAgentAudience(app: number, change: 1 | -1): void {
    const count = (this.#agentAudiences.get(app) ?? 0) + change
    if (count > 0) this.#agentAudiences.set(app, count)
    else this.#agentAudiences.delete(app)
    if (count === 0 || (count === 1 && change === 1)) this.#parts.agentAudience?.(app, count > 0)
  }

  #join(subscription: Subscription): Channel {
    const { app } = subscription
    let channel = this.#channels.get(app)
    if (channel === undefined) {
      const moved = (channel: Channel) => this.#replays.moved(channel)
      channel = new Channel(app, channel => this.#open(channel), { ...this.#parts, moved })
      this.#channels.set(app, channel)
    }
    subscription.channel = channel
    channel.subscriptions.add(subscription)
    return channel
  }

  async #open(channel: Channel): Promise<void> {
    const { apps } = this.#parts
    const unpin = await apps.pin(channel.app)
    try {
      while (apps.peek(channel.app) === undefined) await apps.state(channel.app)
      channel.start(apps.peek(channel.app)!, unpin)
    } catch (error) {
      unpin()
      throw error
    }
  }

  #refuse(subscription: Subscription, error: unknown): void {
    const { session, app, request, stage } = subscription
    if (stage === 'ended') return
    if (error instanceof Problem) session.send(refusal(error, { app_id: app, request_id: request }))
    else {
      this.#parts.log.warn({ app, error }, 'A subscription could not be started')
      session.close(closeCodes.failed, 'reconnect')
    }
    this.#end(subscription)
  }

  #review(channel: Channel, state: AppState, events: readonly AppEvent[]): void {
    const isForAll = events.length === 0 || !isSameGuard(state.told, state.app)
    const users = isForAll ? null : usersWithOtherAccess(state)
    if (users?.size === 0) return
    for (const subscription of channel.subscriptions) {
      const { user } = subscription.session
      if (user !== undefined && (users === null || users.has(user))) this.#check(subscription, state, events)
    }
  }

  #check(subscription: Subscription, state: AppState, events: readonly AppEvent[]): void {
    const { people } = this.#parts
    const { stage, session } = subscription
    const { user } = session
    if (user === undefined || stage === 'opening' || stage === 'ended') return
    if (people.find(user) !== undefined) return this.#decide(subscription, state, user, events)
    if (stage !== 'resting') this.#replays.hold(subscription)
    people.load([user]).then(
      () => this.#release(subscription, user),
      (error: unknown) => this.#refuse(subscription, error),
    )
  }

  #release(subscription: Subscription, user: number): void {
    const { stage, channel } = subscription
    const isWaiting = stage === 'held' || stage === 'resting'
    if (isWaiting && channel?.isOpen) this.#decide(subscription, channel.state, user, [])
  }

  #decide(subscription: Subscription, state: AppState, user: number, events: readonly AppEvent[]): void {
    if (!this.#parts.canRead(state, user)) this.#withdraw(subscription, state.app)
    else if (subscription.stage === 'held') this.#replays.resume(subscription)
    else if (subscription.stage === 'resting') this.#replays.rejoin(subscription, endOfAbsence(state, user, events))
  }

  #withdraw(subscription: Subscription, app: AppRow): void {
    const isGone = app.trashed_at !== null || app.deleted_at !== null
    const reason: Ending = isGone ? 'app-gone' : 'access-lost'
    subscription.session.send(unsubscribed(app.id, reason))
    if (subscription.isLasting && app.deleted_at === null) this.#replays.rest(subscription)
    else this.#end(subscription)
  }

  #end(subscription: Subscription): void {
    const { session, app, topics, stage, channel } = subscription
    if (stage === 'ended') return
    subscription.stage = 'ended'
    if (subscription.hearsAgents) this.#countAgentAudience(app, -1)
    subscription.admission?.resolve(false)
    if (session.subscriptions.get(app) === subscription) session.subscriptions.delete(app)
    if (channel === undefined) return
    if (stage === 'live') for (const topic of topics) session.leave(topic)
    if (stage !== 'opening') channel.dismiss(session.form)
    channel.early.delete(subscription)
    channel.subscriptions.delete(subscription)
    if (channel.subscriptions.size > 0) return
    channel.close()
    this.#channels.delete(app)
  }
}

/** Everything in an app's row that rights hang on. */
function isSameGuard(before: AppRow, after: AppRow): boolean {
  return (
    before === after ||
    (before.access === after.access &&
      before.owner_id === after.owner_id &&
      before.directory_id === after.directory_id &&
      before.trashed_at === after.trashed_at &&
      before.deleted_at === after.deleted_at)
  )
}

/**
 * The rev up to which somebody had no right who has it now. Where several events are heard at once, the last of those that
 * could have given it counts.
 */
function endOfAbsence({ app }: AppState, user: number, events: readonly AppEvent[]): number {
  const giving = events.findLast(
    ({ kind: { entity, touches }, entity_id }) =>
      touches && (entity === 'app' || (entity === 'user' && entity_id === user)),
  )
  return giving?.prev ?? app.head_rev
}

function usersWithOtherAccess(state: AppState): Set<number> {
  const users = new Set<number>()
  for (const [user, before] of state.changed) {
    if ((before?.access ?? null) !== (state.member(user)?.access ?? null)) users.add(user)
  }
  return users
}
