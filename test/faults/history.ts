/** Milliseconds since the run began. */
export type Moment = number

export type Verb = 'send' | 'edit' | 'trash' | 'mark' | 'read'

/** One request and its answer. What is tried again is several calls with one key. */
export interface Call {
  at: Moment
  doneAt: Moment
  verb: Verb
  /** Names the wish: the text of what is sent, and its Idempotency-Key. */
  key: string
  app: number
  user: number
  /** The message that is edited, trashed or marked. */
  item: number | null
  node: number
  /** Null where no answer came: nobody knows whether it was done. */
  status: number | null
  /** The id in the answer; of a read the newest message that it showed. */
  id: number | null
}

/** Something that was done to the cluster. */
export interface Injected {
  at: Moment
  untilAt: Moment
  name: string
}

/**
 * A promotion of a standby that lacked what was acknowledged since `from`. What was asked before `untilAt` may have been
 * answered by the primary before.
 */
export interface Loss {
  from: Moment
  untilAt: Moment
}

/** What an observer was told about one app, or about its connection where there is none. */
export interface Sighting {
  at: Moment
  observer: string
  /** Connections of one observer follow each other. */
  connection: number
  node: number
  app: number
  frame: 'subscribed' | 'event' | 'current' | 'reset' | 'closed'
  rev: number
  prev?: number
  event?: string
  item?: number
  /** Where a subscription was to go on from. */
  after?: number | undefined
  /** When the subscription was asked for. */
  askedAt?: Moment
  /** True where it was to go on in another epoch than there is: a reset follows. */
  isRenewed?: boolean
}

/** A request that a receiver of webhooks got. */
export interface Delivery {
  at: Moment
  receiver: string
  guid: string
  app: number
  rev: number
  action: string
}

export interface AppRow {
  id: number
  head_rev: number
  item_count: number
  trashed_count: number
  made_count: number
  last_id: number | null
  last_by: number | null
  prior_id: number | null
}

export interface EventRow {
  app_id: number
  rev: number
  prev: number
  type: string
  actor_id: number
  entity_id: number
  facts: { marked_id?: number | null } | null
}

export interface MessageRow {
  id: number
  app_id: number
  text: string
  created_by: number
  is_trashed: boolean
  edit: string | null
}

export interface MemberRow {
  app_id: number
  user_id: number
  marked_id: number | null
}

/** What a node answers about an app when everything is quiet. */
export interface Shown {
  node: number
  app: number
  user: number
  is_unread: boolean
  count: number
}

/** How things stood at the end: what the database holds, and what the nodes make of it. */
export interface Ending {
  apps: AppRow[]
  /** By app and rev. */
  events: EventRow[]
  messages: MessageRow[]
  members: MemberRow[]
  shown: Shown[]
}

/** Everything that a run has seen. The checks know nothing else, so that a test can hand them a history of its own. */
export interface History {
  faults: Injected[]
  losses: Loss[]
  calls: Call[]
  /** In the order in which each observer was told. */
  sightings: { native: Sighting[]; hub: Sighting[] }
  /** Those who were to listen to every app. */
  observers: string[]
  deliveries: Delivery[]
  /** What each receiver is registered for: the events that have to reach it, and from which rev of each app on. */
  receivers: { name: string; actions: string[]; since: Record<number, number> }[]
  end: Ending
}
