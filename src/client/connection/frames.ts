import type { ActorRef, EventContent, EventFile, EventMembers, Member } from './event-members.ts'

/** The members of each event beside actor and time. Further kinds of events may be added; ignore them. */
export type { EventMembers }

interface EventHead {
  type: 'event'
  id: number
  app_id: number
  /** The event's rev in the history of the app. */
  rev: number
  prev: number
  actor: ActorRef
  created_at: string
  /** The Idempotency-Key of the request that made it, for the user who sent that. */
  key?: string
}

/** An event of an app: `event` names its kind, which determines its members. */
export type RealtimeEvent = {
  [Name in keyof EventMembers]: EventHead & { event: Name } & EventMembers[Name]
}[keyof EventMembers]

export interface Typing {
  type: 'typing'
  app_id: number
  actor: ActorRef
  is_typing: boolean
}

/** The state of an agent's work on an answer. It has no history, and may be lost. */
export interface AgentRun {
  id: number
  state: 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'merged' | 'expired'
  agent: ActorRef
  /** The item that it answers. */
  item: ItemRef
  /** The parent of that item. */
  parent?: { type: 'post' | 'file'; id: number }
  /** The tool that is being called. */
  tool?: string
  /** The text so far is void. */
  restarted?: true
  /** The answer or error reply. */
  reply?: ItemRef
  error?: string
}

interface ItemRef {
  type: 'message' | 'post' | 'comment'
  id: number
}

/** Text of an agent's unfinished answer. */
export interface AgentDelta {
  type: 'agent_delta'
  app_id: number
  run_id: number
  /** 0 restarts the draft. */
  n: number
  text: string
}

/** Frames that concern the user, without a subscription. */
export type PersonalFrame =
  | { type: 'app_added' | 'app_changed' | 'app_removed'; app_id: number }
  | { type: 'unread'; app_id: number; is_unread: boolean; last_id?: number; marked_id?: number }
  | { type: 'notification_created' | 'notification_updated'; notification: { id: number; [member: string]: unknown } }
  | { type: 'notifications_marked' }
  | { type: 'online'; users: number[] }

/** An app at a rev: all events up to it are in it, and none after it is. */
export interface AppSnapshot {
  /** As in the list of `GET /api/apps`, for this user. */
  app: {
    id: number
    rev: number
    kind: string
    uid?: string
    name?: string
    is_unread: boolean
    [member: string]: unknown
  }
  /** What the app holds. */
  item_type: ItemType
  /** The newest ones, newest first. */
  items?: (EventContent | EventFile)[]
  has_more?: boolean
  members?: Member[]
  member_count?: number
  typing?: ActorRef[]
  runs?: AgentRun[]
}

export type ItemType = 'message' | 'post' | 'comment' | 'file'

export interface Subscribed {
  type: 'subscribed'
  app_id: number
  uid?: string
  request_id?: number
  rev: number
  head_rev: number
  epoch: string
  snapshot?: AppSnapshot
}

/** All frames of the server. */
export type Incoming =
  | RealtimeEvent
  | Typing
  | { type: 'agent_run'; app_id: number; run: AgentRun }
  | AgentDelta
  | PersonalFrame
  | { type: 'welcome'; user_id: number; epoch: string; expires_at: string; expires_in: number }
  | Subscribed
  | { type: 'current' | 'reset'; app_id: number; rev: number }
  | { type: 'unsubscribed'; app_id: number; reason: 'requested' | 'access-lost' | 'app-gone' }
  | { type: 'error'; status: number; code: string; detail: string; app_id?: number; app?: string; request_id?: number }
  | { type: 'pong' }
