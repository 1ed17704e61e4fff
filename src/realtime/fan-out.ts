import type { Apps } from '../engine/apps.ts'
import type { AppEvent, Commit } from '../engine/event.ts'
import type { UserCache } from '../auth/user-cache.ts'
import type { AppRow, AppState } from '../engine/state.ts'
import { NotFound, Problem } from '../lib/errors.ts'
import { FairQueue } from '../lib/fair-queue.ts'
import type { Epoch } from '../log/epoch.ts'
import { AppTopic, type AppTopicParts } from './topics/app-topic.ts'
import { refusal, unsubscribed, type Ending } from './protocols/frames.ts'
import type { AppPolicy } from './app-policy.ts'
import { Replays } from './topics/replay.ts'
import type { Frame } from './protocols/protocol.ts'
import { closeCodes, type Session } from './sessions/session.ts'
import type { TakeSnapshot } from './topics/snapshot.ts'
import { Subscription, type SubscribeOptions } from './topics/subscription.ts'
import { broadcast } from './broadcast.ts'

export interface FanOutParts extends Omit<AppTopicParts, 'onAdvance'> {
  /** The history that all events belong to. */
  epoch: Pick<Epoch, 'id' | 'start'>
  apps: Apps
  userCache: UserCache
  policy: Pick<AppPolicy, 'canRead' | 'hiddenUntil'>
  takeSnapshot: TakeSnapshot
  replayBytes: number
}

/**
 * The most subscriptions that read apps or history from the database at one time: a thousand clients that reconnect
 * must leave room for all other readers.
 */
const readsAtOnce = 4

/** With more events than this missed, a client gets a snapshot, if it asked for one. */
const missedLimit = 2_000

/** A client with more unsent bytes than this is not sent frames without history. A guess. */
const volatileBytes = 64 * 1024

/**
 * Sends committed events to the sessions that may see them. It holds a topic for each app with subscribers. Rights are
 * checked when a subscription starts, and again before the first event after a commit that changes them.
 */
export class FanOut {
  readonly #parts: FanOutParts
  readonly #topics = new Map<number, AppTopic>()
  /** Called when the first session on this node asks to see agents at work in an app, and when the last one has gone. */
  onAgentAudience: (app: number, isThere: boolean) => void = () => {}
  /** App → the number of subscriptions that ask to see agents at work in it. */
  readonly #agentAudiences = new Map<number, number>()
  readonly #queue = new FairQueue({ atOnce: readsAtOnce })
  readonly #replays: Replays

  constructor(parts: FanOutParts) {
    this.#parts = parts
    this.#replays = new Replays({
      ...parts,
      queue: this.#queue,
      refuse: (subscription, error) => this.#refuse(subscription, error),
      catchUp: app => parts.apps.remoteCommits.catchUp([app]),
    })
  }

  /** The number of apps with subscribers. */
  get size(): number {
    return this.#topics.size
  }

  onCommit(commit: Commit, state: AppState): void {
    const appTopic = this.#topics.get(commit.after.id)
    if (appTopic === undefined || !appTopic.isOpen) return
    // Rights first: a subscriber that has just lost them must not see the events.
    this.#review(appTopic, commit, state)
    appTopic.onCommit(commit.events, state)
  }

  /**
   * Subscribes a session to an app: it gets the events after `after`, then live ones. The answer is one frame,
   * `subscribed` or a refusal, unless the subscription is ended before. A second subscription to the app replaces the
   * first.
   */
  subscribe(session: Session, app: number, asked: SubscribeOptions = {}): void {
    const before = session.subscriptions.get(app)
    if (before !== undefined) this.#end(before)
    // Clients of the native protocol get all events of the app, under one topic.
    this.#start(new Subscription(session, this.#topicOf(app), { ...asked, topics: [session.codec.topic(app, '')] }))
  }

  /**
   * Subscribes a hub session to one kind of event of an app, from now on. True when it is subscribed, false where the
   * app does not exist or is not visible; synchronous where the session is subscribed to the app already. The
   * subscription is suspended while the user has no right to the app, and lasts as long as the session.
   */
  subscribeToEvent(session: Session, app: number, event: string): boolean | Promise<boolean> {
    const topic = session.codec.topic(app, event)
    const subscription = session.subscriptions.get(app)
    if (subscription === undefined) {
      const first = new Subscription(session, this.#topicOf(app), { topics: [topic], isLasting: true })
      first.admission = Promise.withResolvers()
      this.#start(first)
      return first.admission.promise
    }
    if (subscription.stage === 'suspended') return false
    if (!subscription.topics.includes(topic)) {
      subscription.topics.push(topic)
      if (subscription.stage === 'live') session.join(topic)
    }
    return subscription.stage === 'opening' ? subscription.admission!.promise : true
  }

  /** Undoes `subscribeToEvent`. */
  unsubscribeFromEvent(session: Session, app: number, event: string): void {
    const subscription = session.subscriptions.get(app)
    const topic = session.codec.topic(app, event)
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

  /** Ends the subscriptions of a closed session. */
  onClose(session: Session): void {
    for (const subscription of session.subscriptions.values()) this.#end(subscription)
  }

  /** Resumes a session's paused replays: the client has received some of its backlog. */
  onDrain(session: Session): void {
    for (const subscription of session.subscriptions.values()) {
      if (subscription.stage === 'paused') this.#replays.resume(subscription)
    }
  }

  /** Checks the rights of a session again, after changes outside its apps. The user is in memory. */
  review(session: Session): void {
    for (const subscription of session.subscriptions.values()) {
      const { appTopic } = subscription
      if (appTopic.isOpen) this.#check(subscription, appTopic.state, [])
    }
  }

  /** True where the app has subscribers on this node. */
  hasSubscribers(app: number): boolean {
    return this.#topics.get(app)?.isOpen === true
  }

  /** Sends a frame without history to the live subscribers of an app. */
  broadcastEphemeral(app: number, frame: Frame): void {
    if (this.hasSubscribers(app)) this.#topics.get(app)!.broadcastEphemeral(frame)
  }

  /**
   * Sends a frame about an agent at work to the live subscribers that asked for these. It has no history: a client with
   * a backlog misses it.
   */
  showAgents(app: number, frame: Frame): void {
    if (!this.#agentAudiences.has(app)) return
    const sessions: Session[] = []
    for (const { wantsAgents, stage, session } of this.#topics.get(app)?.subscriptions ?? []) {
      if (wantsAgents && stage === 'live' && session.bufferedBytes < volatileBytes) sessions.push(session)
    }
    broadcast(sessions, frame, this.#parts.log)
  }

  #start(subscription: Subscription): void {
    if (subscription.wantsAgents) this.#countAgentAudience(subscription.app, 1)
    subscription.session.subscriptions.set(subscription.app, subscription)
    subscription.appTopic.subscriptions.add(subscription)
    this.#admit(subscription).catch((error: unknown) => this.#refuse(subscription, error))
  }

  async #admit(subscription: Subscription): Promise<void> {
    const { apps, userCache, policy } = this.#parts
    const { session, app, appTopic, cursor } = subscription
    const isWanted = () => subscription.stage === 'opening'
    // In turn: of each user, after the user's earlier reads.
    if (!appTopic.isOpen) await this.#queue.add(session.owner ?? 0, async () => isWanted() && appTopic.open())
    // A client may be ahead of this node: by its cursor, which may be wrong, or, without one, by what it has got from
    // another node. Read before the rights, so that these are current.
    const head = cursor === undefined || cursor > appTopic.sent ? await apps.remoteCommits.head(app) : appTopic.sent
    const isForeign = await this.#isForeign(subscription)
    const isFar = await this.#isFar(subscription)
    const { user } = session
    if (user !== undefined && userCache.find(user) === undefined) await userCache.load([user])
    if (apps.current(app) === undefined) await apps.state(app)
    // The app may just be reloading.
    while (isWanted() && apps.peek(app) === undefined) await apps.state(app)
    if (!isWanted() || user === undefined) return
    const state = apps.peek(app)!
    if (!policy.canRead(state, user)) throw NotFound()
    this.#replays.begin(subscription, { hidden: policy.hiddenUntil(state, user), head, isForeign, isFar })
    subscription.admission?.resolve(true)
  }

  /**
   * True where the client's cursor is of another history than this one. A client that does not say of which is believed where
   * the log has its cursor: no number is given out in two histories, and what came before an event is the same in all that
   * have it.
   */
  async #isForeign({ epoch, cursor, app, appTopic, session }: Subscription): Promise<boolean> {
    const { id, start } = this.#parts.epoch
    if (cursor === undefined) return false
    if (epoch !== undefined) return epoch !== id
    if (cursor >= start || cursor === appTopic.sent) return false
    return !(await this.#queue.add(session.owner ?? 0, () => this.#parts.history.has(app, cursor)))
  }

  /** True where a client that asks for a snapshot has missed more than it is sent, or what the log does not have any more. */
  async #isFar({ snapshot, cursor, app, appTopic, session }: Subscription): Promise<boolean> {
    if (snapshot === undefined || cursor === undefined || cursor >= appTopic.sent) return false
    const { codec } = session
    if (appTopic.hasListeners(codec) && cursor >= appTopic.buffer(codec).start) return false
    const count = () => this.#parts.history.countAfter(app, cursor, missedLimit + 1)
    const missed = await this.#queue.add(session.owner ?? 0, count)
    return missed === null || missed > missedLimit
  }

  #countAgentAudience(app: number, change: 1 | -1): void {
    const count = (this.#agentAudiences.get(app) ?? 0) + change
    if (count > 0) this.#agentAudiences.set(app, count)
    else this.#agentAudiences.delete(app)
    if (count === 0 || (count === 1 && change === 1)) this.onAgentAudience(app, count > 0)
  }

  #topicOf(app: number): AppTopic {
    let appTopic = this.#topics.get(app)
    if (appTopic === undefined) {
      const onAdvance = (appTopic: AppTopic) => this.#replays.onAdvance(appTopic)
      appTopic = new AppTopic(app, { ...this.#parts, onAdvance })
      this.#topics.set(app, appTopic)
    }
    return appTopic
  }

  #refuse(subscription: Subscription, error: unknown): void {
    const { session, app, ref, request, stage } = subscription
    if (stage === 'ended') return
    const about = ref === undefined ? { app_id: app } : { app: ref }
    if (error instanceof Problem) session.send(refusal(error, { ...about, request_id: request }))
    else {
      this.#parts.log.warn({ app, error }, 'A subscription could not be started')
      session.close(closeCodes.failed, 'reconnect')
    }
    this.#end(subscription)
  }

  #review(appTopic: AppTopic, commit: Commit, state: AppState): void {
    const { before, after, events } = commit
    const isForAll = events.length === 0 || !isSameGuard(before, after)
    const users = isForAll ? null : usersWithOtherAccess(commit)
    if (users?.size === 0) return
    for (const subscription of appTopic.subscriptions) {
      const { user } = subscription.session
      if (user !== undefined && (users === null || users.has(user))) this.#check(subscription, state, events)
    }
  }

  #check(subscription: Subscription, state: AppState, events: readonly AppEvent[]): void {
    const { userCache } = this.#parts
    const { stage, session } = subscription
    const { user } = session
    if (user === undefined || stage === 'opening' || stage === 'ended') return
    if (userCache.find(user) !== undefined) return this.#decide(subscription, state, user, events)
    if (stage !== 'suspended') this.#replays.hold(subscription)
    userCache.load([user]).then(
      () => this.#release(subscription, user),
      (error: unknown) => this.#refuse(subscription, error),
    )
  }

  #release(subscription: Subscription, user: number): void {
    const { stage, appTopic } = subscription
    const isWaiting = stage === 'held' || stage === 'suspended'
    if (isWaiting && appTopic.isOpen) this.#decide(subscription, appTopic.state, user, [])
  }

  #decide(subscription: Subscription, state: AppState, user: number, events: readonly AppEvent[]): void {
    if (!this.#parts.policy.canRead(state, user)) this.#withdraw(subscription, state.app)
    else if (subscription.stage === 'held') this.#replays.resume(subscription)
    else if (subscription.stage === 'suspended')
      this.#replays.rejoin(subscription, accessGainedAfter(state, user, events))
  }

  #withdraw(subscription: Subscription, app: AppRow): void {
    // The client waits for its answer.
    if (subscription.awaitsSnapshot) return this.#refuse(subscription, NotFound())
    const isGone = app.trashed_at !== null || app.deleted_at !== null
    const reason: Ending = isGone ? 'app-gone' : 'access-lost'
    subscription.session.send(unsubscribed(app.id, reason))
    if (subscription.isLasting && app.deleted_at === null) this.#replays.suspend(subscription)
    else this.#end(subscription)
  }

  #end(subscription: Subscription): void {
    const { session, app, topics, stage, appTopic } = subscription
    if (stage === 'ended') return
    subscription.stage = 'ended'
    if (subscription.wantsAgents) this.#countAgentAudience(app, -1)
    subscription.admission?.resolve(false)
    if (session.subscriptions.get(app) === subscription) session.subscriptions.delete(app)
    if (stage === 'live') for (const topic of topics) session.leave(topic)
    if (stage !== 'opening') appTopic.removeListener(session.codec)
    appTopic.early.delete(subscription)
    appTopic.subscriptions.delete(subscription)
    if (appTopic.subscriptions.size > 0) return
    appTopic.close()
    this.#topics.delete(app)
  }
}

/** True where two rows of an app grant the same rights. */
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
 * The rev up to which a user had no access that the user has now: the rev before the last event of the commit that
 * could have granted it.
 */
function accessGainedAfter({ app }: AppState, user: number, events: readonly AppEvent[]): number {
  const giving = events.findLast(
    ({ kind: { entity, isActivity }, entity_id }) =>
      isActivity && (entity === 'app' || (entity === 'user' && entity_id === user)),
  )
  return giving?.prev ?? app.head_rev
}

/** The users whose access as members a commit has changed. */
function usersWithOtherAccess({ members }: Commit): Set<number> {
  const users = new Set<number>()
  for (const [user, { before, after }] of members) {
    if ((before?.access ?? null) !== (after?.access ?? null)) users.add(user)
  }
  return users
}
