// What each event says, by its schema on the server. Made by test/client/event-members.test.ts: do not edit it, but
// run that test with -u where a schema has changed.

export interface EventApp {
  id: number
  rev: number
  type: string
  uid?: string
  name?: string
  description?: string
  avatar_url?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  access: 'none' | 'read' | 'write' | 'admin'
  directory_id?: number
  created_at: string
  updated_at?: string
  is_trashed: boolean
}

export interface EventContent {
  id: number
  text?: string
  html?: string
  plain?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  is_trashed: boolean
  created_at: string
  updated_at?: string
  app: EventApp
  parent?: { id: number; type: 'post' | 'file' }
  attachments?: { data?: EventFile[]; start?: number; end?: number; count: number }
  options?: { data?: EventOption[]; start?: number; end?: number; count: number }
  reactions?: { data?: Reaction[]; start?: number; end?: number; count: number }
  embed?: Embed
  meeting?: Meeting
  annotations?: { data?: EventCitedFile[]; start?: number; end?: number; count: number }
  created_by: UserSummary
  updated_by?: UserSummary
  /** Of posts */
  comments?: { count: number }
}

export interface EventFile {
  id: number
  /** Names the version */
  rev: number
  app: EventApp
  parent?: { id: number; type: 'message' | 'post' | 'comment' | 'file' }
  name: string
  kind:
    | 'file'
    | 'archive'
    | 'audio'
    | 'code'
    | 'document'
    | 'email'
    | 'image'
    | 'presentation'
    | 'spreadsheet'
    | 'text'
    | 'video'
  media_type: string
  width?: number
  height?: number
  size: number
  metadata?: Record<string, unknown>
  tags?: string[]
  provider?: string
  raw?: string
  download_url?: string
  embed_url?: string
  external_url?: string
  preview_format: 'none' | 'audio' | 'code' | 'embed' | 'html' | 'image' | 'pdf' | 'text' | 'video'
  preview_url?: string
  thumbnail_url?: string
  comments?: { count: number }
  is_trashed: boolean
  created_at: string
  created_by: UserSummary
  updated_at?: string
  updated_by?: UserSummary
}

export interface UserSummary {
  id: number
  uid?: string
  name: string
  given_name?: string
  middle_name?: string
  family_name?: string
  nickname?: string
  email?: string
  phone_number?: string
  /** Only for API keys, and for oneself */
  username?: string
  avatar_url?: string
  directories?: DirectoryRef[]
  /** Absent for the system user and the deleted user, and where a user is named as author or voter */
  presence?: 'active' | 'away'
  comment?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  /** Absent for people */
  is_agent?: true
  /** By the caller; absent for API keys */
  is_followed?: boolean
  is_trashed: boolean
  created_at?: string
  updated_at?: string
}

export interface DirectoryRef {
  id: number
  name: string
}

export interface EventOption {
  id: number
  text: string
  votes: { count: number }
}

export interface Reaction {
  content: string
  created_at: string
  created_by: ActorRef
}

export interface ActorRef {
  id: number
  uid?: string
  name: string
  avatar_url?: string
  /** Absent for people */
  is_agent?: true
}

export interface Embed {
  id: number
  type: 'link' | 'rich' | 'video' | 'photo'
  title?: string
  description?: string
  url?: string
  image?: Blob
  thumbnail_url?: string
  actions?: string[]
  metadata?: Record<string, unknown>
  author_name?: string
  author_url?: string
  provider_name?: string
  provider_url?: string
  html?: string
  width?: number
  height?: number
}

export interface Blob {
  id: number
  name: string
  media_type?: string
  /** Pixels; only of pictures */
  width?: number
  height?: number
  /** Bytes */
  size: number
  thumbnail_url?: string
  /** JSON of the provider; only of files that are kept elsewhere */
  raw?: string
}

export interface Meeting {
  id: number
  provider?: string
  provider_id?: string
  join_url: string
  /** What people type to join */
  code?: string
  created_at: string
  metadata?: Record<string, unknown>
}

export interface EventCitedFile {
  id: number
  /** Names the version */
  rev: number
  app: { id: number }
  parent?: { id: number; type: 'message' | 'post' | 'comment' | 'file' }
  name: string
  kind:
    | 'file'
    | 'archive'
    | 'audio'
    | 'code'
    | 'document'
    | 'email'
    | 'image'
    | 'presentation'
    | 'spreadsheet'
    | 'text'
    | 'video'
  media_type: string
  width?: number
  height?: number
  size: number
  metadata?: Record<string, unknown>
  tags?: string[]
  provider?: string
  raw?: string
  download_url?: string
  embed_url?: string
  external_url?: string
  preview_format: 'none' | 'audio' | 'code' | 'embed' | 'html' | 'image' | 'pdf' | 'text' | 'video'
  preview_url?: string
  thumbnail_url?: string
  comments?: { count: number }
  is_trashed: boolean
  created_at: string
  created_by: UserSummary
  updated_at?: string
  updated_by?: UserSummary
}

export interface TrashedRef {
  id: number
  app: EventApp
  parent?: { id: number; type: string }
  is_trashed: true
}

export interface EventRef {
  id: number
  app: EventApp
  parent?: { id: number; type: string }
}

export interface Member {
  id: number
  uid?: string
  name: string
  avatar_url?: string
  access: 'none' | 'read' | 'write' | 'admin'
  marked_at?: string
  marked_id?: number
  presence?: 'active' | 'away'
  comment?: string
  is_agent?: boolean
}

export interface EventMembers {
  app_created: { app: EventApp }
  app_updated: { app: EventApp }
  app_trashed: { app: EventApp }
  app_restored: { app: EventApp }
  app_deleted: { app: EventApp }
  owner_changed: { app: EventApp }
  app_marked: { app: EventApp; marked_id?: number; marked_at?: string }
  comment_created: { comment: EventContent }
  comment_updated: { comment: EventContent | TrashedRef }
  comment_deleted: { comment: EventRef }
  file_created: { file: EventFile }
  file_updated: { file: EventFile | TrashedRef }
  file_deleted: { file: EventRef }
  member_added: { app: EventApp; member: Member }
  member_updated: { app: EventApp; member: Member }
  member_removed: { app: EventApp; member: Member }
  message_created: { message: EventContent }
  message_updated: { message: EventContent | TrashedRef }
  message_deleted: { message: EventRef }
  vote_added: { poll: { id: number; app: EventApp; type: string }; option: EventOption }
  vote_removed: { poll: { id: number; app: EventApp; type: string }; option: EventOption }
  post_created: { post: EventContent }
  post_updated: { post: EventContent | TrashedRef }
  post_deleted: { post: EventRef }
  reaction_added: {
    entity: { id: number; app: EventApp; parent?: { id: number; type: string }; type: string }
    reaction: string
  }
  reaction_removed: {
    entity: { id: number; app: EventApp; parent?: { id: number; type: string }; type: string }
    reaction: string
  }
}
