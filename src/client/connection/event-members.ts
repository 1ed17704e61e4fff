// What each event says, by its schema on the server. Made by test/client/event-members.test.ts: do not edit it, but
// run that test with -u where a schema has changed.

import type {
  EventApp,
  UserSummary,
  DirectoryRef,
  Reaction,
  ActorRef,
  Embed,
  Blob,
  Meeting,
  TrashedRef,
  EventRef,
  Member,
} from '../http/paths.ts'

export type {
  EventApp,
  UserSummary,
  DirectoryRef,
  Reaction,
  ActorRef,
  Embed,
  Blob,
  Meeting,
  TrashedRef,
  EventRef,
  Member,
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
  parent?: { id: number; type: string; comments?: { count: number } }
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

export interface EventOption {
  id: number
  text: string
  votes: { count: number }
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
    entity: {
      id: number
      app: EventApp
      parent?: { id: number; type: string; comments?: { count: number } }
      type: string
    }
    reaction: string
  }
  reaction_removed: {
    entity: {
      id: number
      app: EventApp
      parent?: { id: number; type: string; comments?: { count: number } }
      type: string
    }
    reaction: string
  }
}
