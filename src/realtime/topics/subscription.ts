import type { AppTopic } from './app-topic.ts'
import type { Session } from '../sessions/session.ts'

/**
 * `opening`: rights and the app are being looked up. `replaying`: gets what it missed. `paused`: as much of that waits
 * for the client as may. `early`: the client has seen events that this node has not; it waits for them to arrive.
 * `held`: its right is being checked again. `live`: gets what is published. `resting`: it has lost the right, and goes on when
 * that comes back. `ended`: nothing may be sent any more.
 */
export type Stage = 'opening' | 'replaying' | 'paused' | 'early' | 'held' | 'live' | 'resting' | 'ended'

/** A guess: for a short absence it is all there is, and with the largest events it takes a few megabytes. */
const firstPage = 32

/** What a client asks for. */
export interface SubscribeOptions {
  /** The last rev that it has seen; without it, it wants only what comes. */
  after?: number | undefined
  /** It wants to see agents at work, before anything of that is part of the app's history. */
  agents?: boolean | undefined
  /** What it calls its request. */
  request?: number | undefined
}

interface SubscriptionTopics {
  topics: string[]
  isLasting?: boolean
}

/** One session's subscription to one app. */
export class Subscription {
  readonly session: Session
  readonly app: number
  /** What it gets live: one topic for all events of the app, or one for each kind of event that it asked for. */
  readonly topics: string[]
  /** Repeated in the answer, so that the client knows which request it is for. */
  readonly request: number | undefined
  /** It outlives the right to it: its client is not told that it has ended. */
  readonly isLasting: boolean
  /** It gets frames of agents at work. */
  readonly wantsAgents: boolean
  /** Settled when it is known whether the session may see the app; null where the caller does not wait for that. */
  admission: PromiseWithResolvers<boolean> | null = null
  stage: Stage = 'opening'
  /** Undefined until the app is there. */
  appTopic: AppTopic | undefined
  /** Everything up to this rev has been sent; of a live one it is the topic's `sent` that counts. */
  cursor: number | undefined
  /** How many events are read from the log for it at once: more and more while its client keeps up. */
  pageSize = firstPage
  /** Counts the runs of its replay: one that was overtaken while it waited stops. */
  run = 0

  constructor(
    session: Session,
    app: number,
    { topics, isLasting = false, agents = false, after, request }: SubscribeOptions & SubscriptionTopics,
  ) {
    this.session = session
    this.app = app
    this.topics = topics
    this.isLasting = isLasting
    this.wantsAgents = agents
    this.request = request
    this.cursor = after
  }
}
