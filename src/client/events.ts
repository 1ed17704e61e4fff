/** The actor of an event. */
export interface Actor {
  id: number
  uid?: string
  name: string
  avatar_url?: string
  is_agent?: true
}

export interface AppRef {
  id: number
  uid?: string
  name?: string
  type: string
}

/** A whole message, post or comment. Members without a value are absent. */
export interface Content {
  id: number
  app: AppRef
  parent?: { id: number; type: string }
  text?: string
  html?: string
  plain?: string
  created_at: string
  created_by: Actor
  updated_at?: string
  updated_by?: Actor
  metadata?: Record<string, unknown>
  tags?: string[]
  [member: string]: unknown
}

/** An item in the trash, in later events. */
export interface Trashed {
  id: number
  app: AppRef
  parent?: { id: number; type: string }
  is_trashed: true
}

/** A whole file. Members without a value are absent. */
export interface SharedFile {
  id: number
  app: AppRef
  parent?: { id: number; type: string }
  name: string
  size?: number
  created_at: string
  created_by: Actor
  updated_at?: string
  updated_by?: Actor
  [member: string]: unknown
}

export interface Entity {
  id: number
  type: string
  app: AppRef
  parent?: { id: number; type: string }
}

interface Deleted {
  id: number
  app: AppRef
}

interface Membership {
  app: AppRef
  member: Actor & { access: string }
}

interface Reacted {
  entity: Entity
  reaction: string
}

interface Voted {
  poll: { id: number; type: string; app: AppRef }
  option: { id: number; text: string; votes: { count: number } }
}

/** The members of each event beside actor and time. Further kinds of events may be added; ignore them. */
export interface EventMembers {
  app_created: { app: AppRef }
  app_updated: { app: AppRef }
  app_trashed: { app: AppRef }
  app_restored: { app: AppRef }
  app_deleted: { app: AppRef }
  owner_changed: { app: AppRef }
  app_marked: { app: AppRef; marked_id?: number; marked_at?: string }
  member_added: Membership
  member_updated: Membership
  member_removed: Membership
  message_created: { message: Content }
  message_updated: { message: Content | Trashed }
  message_deleted: { message: Deleted }
  post_created: { post: Content }
  post_updated: { post: Content | Trashed }
  post_deleted: { post: Deleted }
  comment_created: { comment: Content }
  comment_updated: { comment: Content | Trashed }
  comment_deleted: { comment: Deleted }
  file_created: { file: SharedFile }
  file_updated: { file: SharedFile | Trashed }
  file_deleted: { file: Deleted }
  vote_added: Voted
  vote_removed: Voted
  reaction_added: Reacted
  reaction_removed: Reacted
}

interface EventHead {
  type: 'event'
  id: number
  app_id: number
  /** The event's rev in the history of the app. */
  rev: number
  prev: number
  actor: Actor
  created_at: string
}

type TypedEvent = { [Name in keyof EventMembers]: EventHead & { event: Name } & EventMembers[Name] }[keyof EventMembers]

/** An event of an app: `event` names its kind, which determines its members. */
export type RealtimeEvent = TypedEvent

export interface Typing {
  type: 'typing'
  app_id: number
  actor: Actor
  is_typing: boolean
}

/** The state of an agent's work on an answer. It has no history, and may be lost. */
export interface AgentRun {
  id: number
  state: 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'merged' | 'expired'
  agent: Actor
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
  | { type: 'app_added' | 'app_removed'; app_id: number }
  | { type: 'unread'; app_id: number; is_unread: boolean; last_id?: number; marked_id?: number }
  | { type: 'notification_created' | 'notification_updated'; notification: { id: number; [member: string]: unknown } }
  | { type: 'notifications_marked' }

/** All frames of the server. */
export type Incoming =
  | RealtimeEvent
  | Typing
  | { type: 'agent_run'; app_id: number; run: AgentRun }
  | AgentDelta
  | PersonalFrame
  | { type: 'welcome'; user_id: number; expires_at: string; expires_in: number }
  | { type: 'subscribed'; app_id: number; request_id?: number; rev: number; head_rev: number }
  | { type: 'current' | 'reset'; app_id: number; rev: number }
  | { type: 'unsubscribed'; app_id: number; reason: 'requested' | 'access-lost' | 'app-gone' }
  | { type: 'error'; status: number; code: string; detail: string; app_id?: number; request_id?: number }
  | { type: 'pong' }
