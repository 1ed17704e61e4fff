import type { AppTopic } from './app-topic.ts'
import type { Session } from '../sessions/session.ts'

/**
 * `opening`: rights and the app are being looked up. `replaying`: gets the events that it missed. `paused`: its client
 * has too many unsent bytes. `early`: its client is ahead of this node. `held`: its right is being checked again.
 * `live`: gets what is published. `suspended`: has lost the right, and continues when it comes back. `ended`: gets
 * nothing more.
 */
export type Stage = 'opening' | 'replaying' | 'paused' | 'early' | 'held' | 'live' | 'suspended' | 'ended'

/** A guess: covers a short absence; with the largest events it takes a few megabytes. */
const firstPage = 32

/** The options of a subscribe frame. */
export interface SubscribeOptions {
  /** The last rev that the client has seen; absent: it wants only later events. */
  after?: number | undefined
  /** The epoch that `after` belongs to. */
  epoch?: string | undefined
  /** True: the client wants to see agents at work, before that becomes part of the app's history. */
  agents?: boolean | undefined
  /** The number of items of a snapshot, for a client that has missed more than it can be sent. */
  snapshot?: number | undefined
  /** The client's id for the request, repeated in the answer. */
  request?: number | undefined
  /** How the client named the app, where that was not by id alone; repeated in a refusal. */
  ref?: string | undefined
}

interface SubscriptionTopics {
  topics: string[]
  isLasting?: boolean
}

/** One session's subscription to one app. */
export class Subscription {
  readonly session: Session
  readonly app: number
  readonly appTopic: AppTopic
  /** Its live topics: one for all events of the app, or one for each kind of event that it asked for. */
  readonly topics: string[]
  /** Repeated in the answer, so that the client knows which request it is for. */
  readonly request: number | undefined
  /** How the client named the app, repeated in a refusal. */
  readonly ref: string | undefined
  /** The number of items of the snapshot that the client asks for. */
  readonly snapshot: number | undefined
  /** True while it is owed one, before it is answered. */
  awaitsSnapshot = false
  /** True where it outlives the right to the app: the client gets no frame when the right ends or returns. */
  readonly isLasting: boolean
  /** True where it gets frames about agents at work. */
  readonly wantsAgents: boolean
  /** Resolves when it is known whether the session may see the app; null where no caller waits for that. */
  admission: PromiseWithResolvers<boolean> | null = null
  stage: Stage = 'opening'
  /** Every event up to this rev has been sent; while it is live, the topic's `sent` counts instead. */
  cursor: number | undefined
  /** The history that the client's first cursor belongs to, as it says. */
  readonly epoch: string | undefined
  /** The most events of its next read of the log; grows while its client keeps up. */
  pageSize = firstPage
  /** Counts the runs of its replay: a run that was overtaken while it waited stops. */
  run = 0

  constructor(
    session: Session,
    appTopic: AppTopic,
    { topics, isLasting = false, agents = false, ...asked }: SubscribeOptions & SubscriptionTopics,
  ) {
    this.session = session
    this.app = appTopic.app
    this.appTopic = appTopic
    this.topics = topics
    this.isLasting = isLasting
    this.wantsAgents = agents
    this.request = asked.request
    this.ref = asked.ref
    this.snapshot = asked.snapshot
    this.cursor = asked.after
    this.epoch = asked.epoch
  }

  /** The uid of the app, if it has one; the topic is open. */
  get uid(): string | null {
    return this.appTopic.state.app.uid
  }
}
