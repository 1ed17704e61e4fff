// What each request of the API takes and answers. Made from the OpenAPI description by test/client/paths.test.ts: do not
// edit it, but run that test with -u where the API has changed.

export interface Node {
  id: string
  version: string
  /** The name of the machine */
  host: string
  started_at: string
  /** When it was heard of last; each node speaks every ten seconds */
  seen_at: string
  /** Realtime connections */
  sessions: number
  /** Commands that wait */
  waiting: number
  /** How late its event loop was */
  lag_ms: string | number
  /** Memory in bytes */
  rss: number
  /** Bytes of the disk that DATA_DIR lies on, and how many are free; absent where the system does not say */
  disk?: { size: number; free: number }
  /** It has answered this request */
  is_current: boolean
}

export interface ProblemDetails {
  /** A URI that names the class of the status */
  type: string
  title: string
  status: number
  /** A sentence for people: what is wrong */
  detail?: string
  /** Path of the request */
  instance?: string
  /** Names the reason; it does not change */
  code?: string
  /** Path of the page that explains the code */
  help?: string
  /** 422: names of fields, and what is wrong */
  errors?: Record<string, unknown>
  /** Names the request in the log of the server; also in X-Request-Id */
  request_id?: string
  /** 500: the id under which the server logged what happened */
  trace_id?: string
}

export interface Series {
  points?: (string | number)[][]
}

export interface Setting {
  /** The environment variable */
  name: string
  /** `[set]` stands for a secret; absent where there is none */
  value?: string
  default?: string
  source: 'env' | '.env' | 'default'
  description: string
  /** What a careful owner would change about it now */
  warning?: string
}

export interface Job {
  node: string
  name: string
  /** Seconds from one turn to the next */
  period: number
  last_run_at: string
  /** Milliseconds that the last turn took */
  duration: string | number
  /** Turns since the node started */
  runs: number
  /** Rows that the last turn removed or changed; absent where it does not count them */
  rows?: number
  /** Why the last turn failed; absent where it did not */
  error?: string
}

export interface Storage {
  counted_at?: string
  files: number
  bytes: number
  apps?: {
    app: {
      id: number
      uid?: string
      name?: string
      /** The guid of its type */
      type?: string
      /** The name of its type, which `type` in a request may be as well */
      kind?: 'agent_chat' | 'chat' | 'chat_room' | 'comments' | 'files' | 'posts' | 'private_chat'
    }
    /** With their versions */
    files: number
    bytes: number
  }[]
}

export interface RealtimeSessions {
  data?: RealtimeSession[]
  start?: number
  end?: number
  count: number
  /** Nodes that run and did not answer, whose connections are missing: without Redis all others */
  silent_nodes?: string[]
}

export interface RealtimeSession {
  id: string
  /** The node that it is connected to, see /api/admin/nodes */
  node: string
  /** What the client speaks: the protocols of /api/realtime, or SignalR */
  kind: 'native' | 'hub'
  /** Absent before the client has said who it is */
  user?: { id: number; uid?: string; name?: string }
  since: string
  /** The address of the client */
  ip: string
  /** The first ten apps that it is subscribed to */
  apps?: { id: number; uid?: string; name?: string; type: string }[]
  /** How many apps it is subscribed to */
  subscriptions: number
}

export interface Agent {
  id: number
  uid?: string
  name: string
  provider: 'anthropic' | 'openai' | 'gemini' | 'kapa' | 'builtin'
  model: string
  /** Only for API keys */
  instructions?: string
  /** Names; only for API keys */
  functions?: string[]
  /** Ids of files apps; only for API keys */
  knowledge?: number[]
  web_search: boolean
  max_tokens?: number
  avatar_url?: string
  directories?: DirectoryRef[]
  comment?: string
  tags?: string[]
  metadata?: Record<string, unknown>
  created_at: string
  updated_at?: string
  is_agent: true
  is_trashed: boolean
  picture?: Blob
}

export interface DirectoryRef {
  id: number
  name: string
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

export interface AgentSummary {
  id: number
  uid?: string
  name: string
  provider: 'anthropic' | 'openai' | 'gemini' | 'kapa' | 'builtin'
  model: string
  /** Only for API keys */
  instructions?: string
  /** Names; only for API keys */
  functions?: string[]
  /** Ids of files apps; only for API keys */
  knowledge?: number[]
  web_search: boolean
  max_tokens?: number
  avatar_url?: string
  directories?: DirectoryRef[]
  comment?: string
  tags?: string[]
  metadata?: Record<string, unknown>
  created_at: string
  updated_at?: string
  is_agent: true
  is_trashed: boolean
}

export interface AgentFunction {
  name: string
  description: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  /** As they were given */
  headers?: Record<string, unknown>
  parameters?: {}
}

export interface ToolServer {
  name: string
  url: string
  description?: string
  allowed_tools?: string[]
  approval_mode: 'always' | 'never'
  /** As they were given */
  headers?: Record<string, unknown>
}

export interface OfferedTool {
  name: string
  title?: string
  description: string
  input_schema: {}
  is_allowed: boolean
}

export interface AgentRun {
  id: number
  agent: { id: number; uid?: string; name?: string }
  app?: {
    id: number
    /** The guid of its type */
    type: string
    /** The name of its type, which `type` in a request may be as well */
    kind: 'agent_chat' | 'chat' | 'chat_room' | 'comments' | 'files' | 'posts' | 'private_chat'
    name?: string
  }
  /** What it answers */
  item: { type: 'message' | 'post' | 'comment'; id: number }
  asker: { id: number; uid?: string; name?: string }
  state: 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'merged' | 'expired'
  error?: string
  finish?: string
  reply?: { type: 'message' | 'post' | 'comment'; id: number }
  provider?: string
  model?: string
  rounds?: number
  calls?: number
  attempts?: number
  /** Tokens */
  usage?: { input: number; output: number; cached: number }
  created_at: string
  began_at?: string
  first_text_at?: string
  ended_at?: string
  approvals?: number[]
}

export interface AgentRunDetails {
  id: number
  agent: { id: number; uid?: string; name?: string }
  app?: {
    id: number
    /** The guid of its type */
    type: string
    /** The name of its type, which `type` in a request may be as well */
    kind: 'agent_chat' | 'chat' | 'chat_room' | 'comments' | 'files' | 'posts' | 'private_chat'
    name?: string
  }
  /** What it answers */
  item: { type: 'message' | 'post' | 'comment'; id: number }
  asker: { id: number; uid?: string; name?: string }
  state: 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'merged' | 'expired'
  error?: string
  finish?: string
  reply?: { type: 'message' | 'post' | 'comment'; id: number }
  provider?: string
  model?: string
  rounds?: number
  calls?: number
  attempts?: number
  /** Tokens */
  usage?: { input: number; output: number; cached: number }
  created_at: string
  began_at?: string
  first_text_at?: string
  ended_at?: string
  approvals?: number[]
  steps?: {
    n: number
    kind: string
    name?: string
    outcome?: string
    began_at: string
    /** Milliseconds */
    duration?: number
    /** Only with AGENT_TRACE */
    arguments?: unknown
    result?: unknown
  }[]
}

export interface AgentApproval {
  id: number
  run: number
  server: string
  tool: string
  arguments: Record<string, unknown>
  state: 'pending' | 'approved' | 'declined' | 'lapsed'
  /** The reply that asks */
  item: { type: string; id: number }
  app: { id: number }
  agent: { id: number; uid?: string; name?: string }
  note?: string
  decided_by?: { id: number; uid?: string; name?: string }
  decided_at?: string
  created_at: string
  expires_at: string
}

export interface KnowledgeFile {
  file: { id: number; name: string }
  app: { id: number; name?: string }
  state: 'pending' | 'indexed' | 'skipped' | 'failed'
  /** Why it cannot be searched */
  reason?: string
  passages: number
}

export interface AgentTest {
  text: string
  finish?: string
  /** As in runs */
  error?: string
  /** What the provider said of the error */
  detail?: string
  /** Tokens */
  usage: { input: number; output: number; cached: number }
  /** Milliseconds */
  duration: number
  steps?: {
    kind: 'function' | 'mcp' | 'search'
    name: string
    /** Absent where they are no JSON object */
    arguments?: Record<string, unknown>
    /** Absent where it was not called */
    result?: string
    outcome: 'ok' | 'error' | 'unknown' | 'skipped'
  }[]
  /** What the model was told of who it is */
  system: string
}

export interface App {
  id: number
  rev: number
  /** The guid of its type */
  type: string
  /** The name of its type, which `type` in a request may be as well */
  kind: 'agent_chat' | 'chat' | 'chat_room' | 'comments' | 'files' | 'posts' | 'private_chat'
  uid?: string
  name?: string
  description?: string
  archive_url?: string
  avatar_url?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  access: 'none' | 'read' | 'write' | 'admin'
  directory_id?: number
  created_at: string
  updated_at?: string
  is_pinned: boolean
  is_starred: boolean
  is_subscribed: boolean
  is_trashed: boolean
  is_unread: boolean
  permissions?: ('list' | 'read' | 'create' | 'update' | 'delete' | 'admin')[]
  picture?: Blob
  /** The newest one that the caller may see */
  last_message?: {
    id: number
    text?: string
    html?: string
    plain?: string
    metadata?: Record<string, unknown>
    tags?: string[]
    is_starred: boolean
    is_subscribed: boolean
    is_trashed: boolean
    created_at: string
    updated_at?: string
    created_by: UserSummary
  }
  members?: { data?: Member[]; start?: number; end?: number; count: number }
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

export interface AppSummary {
  id: number
  rev: number
  /** The guid of its type */
  type: string
  /** The name of its type, which `type` in a request may be as well */
  kind: 'agent_chat' | 'chat' | 'chat_room' | 'comments' | 'files' | 'posts' | 'private_chat'
  uid?: string
  name?: string
  description?: string
  archive_url?: string
  avatar_url?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  access: 'none' | 'read' | 'write' | 'admin'
  directory_id?: number
  created_at: string
  updated_at?: string
  is_pinned: boolean
  is_starred: boolean
  is_subscribed: boolean
  is_trashed: boolean
  is_unread: boolean
  permissions?: ('list' | 'read' | 'create' | 'update' | 'delete' | 'admin')[]
}

export interface AuditEntry {
  id: number
  at: string
  actor: {
    /** user: the target itself, through a client; nobody: an attempt to sign in that was refused */
    kind: 'key' | 'server' | 'user' | 'nobody'
    /** Id of the API key */
    id?: number
    /** What the key is called now */
    name?: string
  }
  session_id?: number
  ip?: string
  request_id?: string
  action:
    | 'key_created'
    | 'key_updated'
    | 'key_revoked'
    | 'keys_revoked'
    | 'signed_in'
    | 'sign_in_failed'
    | 'signed_out'
    | 'user_created'
    | 'user_updated'
    | 'user_trashed'
    | 'user_restored'
    | 'user_deleted'
    | 'token_issued'
    | 'tokens_revoked'
    | 'directory_created'
    | 'directory_updated'
    | 'directory_members_added'
    | 'directory_members_removed'
    | 'directory_deleted'
    | 'agent_created'
    | 'agent_updated'
    | 'agent_trashed'
    | 'agent_restored'
    | 'agent_deleted'
    | 'function_added'
    | 'function_updated'
    | 'function_removed'
    | 'tool_server_added'
    | 'tool_server_updated'
    | 'tool_server_removed'
    | 'approval_decided'
    | 'webhook_created'
    | 'webhook_updated'
    | 'webhook_deleted'
    | 'webhook_secret_rotated'
    | 'webhook_disabled'
    | 'delivery_repeated'
    | 'deliveries_repeated'
    | 'app_updated'
    | 'app_trashed'
    | 'app_restored'
    | 'app_deleted'
    | 'members_changed'
    | 'members_removed'
    | 'message_updated'
    | 'message_trashed'
    | 'message_restored'
    | 'message_deleted'
    | 'post_updated'
    | 'post_trashed'
    | 'post_restored'
    | 'post_deleted'
    | 'comment_updated'
    | 'comment_trashed'
    | 'comment_restored'
    | 'comment_deleted'
    | 'file_trashed'
    | 'file_restored'
    | 'file_deleted'
    | 'session_ended'
    | 'audit_exported'
    | 'tool_called'
    | 'client_allowed'
    | 'client_ended'
  target?: { type: string; id?: number; name?: string }
  /** What was changed, as it was; texts and secrets are not told */
  before?: Record<string, unknown>
  /** What was changed, as it is since; `[changed]` stands for texts and secrets */
  after?: Record<string, unknown>
}

export interface User {
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
  picture?: Blob
}

export interface Token {
  access_token: string
  expires_in: number
}

export interface Comment {
  id: number
  text?: string
  html?: string
  plain?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  is_starred: boolean
  is_subscribed: boolean
  is_trashed: boolean
  created_at: string
  updated_at?: string
  app: AppSummary
  parent?: { id: number; type: 'post' | 'file' }
  attachments: { data?: File[]; start?: number; end?: number; count: number }
  /** Empty where it is no poll */
  options: { data?: OptionSummary[]; start?: number; end?: number; count: number }
  /** The first 100; for the UI kit, which counts them, all that an answer has room for */
  reactions: { data?: Reaction[]; start?: number; end?: number; count: number }
  embed?: Embed
  meeting?: Meeting
  /** Files that contributed to the answer of an agent */
  annotations: { data?: File[]; start?: number; end?: number; count: number }
  created_by: UserSummary
  updated_by?: UserSummary
}

export interface File {
  id: number
  /** Names the version */
  rev: number
  app: AppSummary
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
  is_subscribed: boolean
  is_starred: boolean
  is_trashed: boolean
  created_at: string
  created_by: UserSummary
  updated_at?: string
  updated_by?: UserSummary
}

export interface OptionSummary {
  id: number
  text: string
  /** By the caller */
  has_voted: boolean
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

export interface CommentSummary {
  id: number
  text?: string
  html?: string
  plain?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  is_starred: boolean
  is_subscribed: boolean
  is_trashed: boolean
  created_at: string
  updated_at?: string
  app?: AppSummary
  parent?: { id: number; type: 'post' | 'file' }
  attachments?: { data?: File[]; start?: number; end?: number; count: number }
  /** Empty where it is no poll */
  options?: { data?: OptionSummary[]; start?: number; end?: number; count: number }
  /** The first 100; for the UI kit, which counts them, all that an answer has room for */
  reactions?: { data?: Reaction[]; start?: number; end?: number; count: number }
  embed?: Embed
  meeting?: Meeting
  /** Files that contributed to the answer of an agent */
  annotations?: { data?: File[]; start?: number; end?: number; count: number }
  created_by?: UserSummary
  updated_by?: UserSummary
}

export interface Directory {
  id: number
  name: string
  /** The first 25, by name */
  members: { data?: UserSummary[]; start?: number; end?: number; count: number }
}

export interface Star {
  id: number
  type: 'app' | 'file' | 'message' | 'post' | 'comment'
}

export interface MadeKey {
  id: number
  name: string
  /** The first characters; unknown of a key that was made before they were kept */
  prefix?: string
  created_at: string
  expires_at?: string
  /** Shown this once: absent where a request is repeated under its Idempotency-Key */
  key?: string
}

export interface Key {
  id: number
  name: string
  /** The first characters; unknown of a key that was made before they were kept */
  prefix?: string
  created_at: string
  expires_at?: string
  revoked_at?: string
  /** To a minute */
  last_used_at?: string
  /** It is the key of this request */
  is_current: boolean
}

export interface Message {
  id: number
  text?: string
  html?: string
  plain?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  is_starred: boolean
  is_subscribed: boolean
  is_trashed: boolean
  created_at: string
  updated_at?: string
  app: AppSummary
  parent?: { id: number; type: 'post' | 'file' }
  attachments: { data?: File[]; start?: number; end?: number; count: number }
  /** Empty where it is no poll */
  options: { data?: OptionSummary[]; start?: number; end?: number; count: number }
  /** The first 100; for the UI kit, which counts them, all that an answer has room for */
  reactions: { data?: Reaction[]; start?: number; end?: number; count: number }
  embed?: Embed
  meeting?: Meeting
  /** Files that contributed to the answer of an agent */
  annotations: { data?: File[]; start?: number; end?: number; count: number }
  created_by: UserSummary
  updated_by?: UserSummary
}

export interface MessageSummary {
  id: number
  text?: string
  html?: string
  plain?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  is_starred: boolean
  is_subscribed: boolean
  is_trashed: boolean
  created_at: string
  updated_at?: string
  app?: AppSummary
  parent?: { id: number; type: 'post' | 'file' }
  attachments?: { data?: File[]; start?: number; end?: number; count: number }
  /** Empty where it is no poll */
  options?: { data?: OptionSummary[]; start?: number; end?: number; count: number }
  /** The first 100; for the UI kit, which counts them, all that an answer has room for */
  reactions?: { data?: Reaction[]; start?: number; end?: number; count: number }
  embed?: Embed
  meeting?: Meeting
  /** Files that contributed to the answer of an agent */
  annotations?: { data?: File[]; start?: number; end?: number; count: number }
  created_by?: UserSummary
  updated_by?: UserSummary
}

export interface Notification {
  id: number
  type: 'activity' | 'mention' | 'reaction'
  action: string
  actor: ActorRef
  /** Markdown with placeholders {0}, {1}, … */
  template: string
  args?: string[]
  text: string
  html: string
  plain: string
  link?: {
    id: number
    type: string
    parent?: { id: number; type: string }
    app?: {
      id: number
      uid?: string
      /** The guid of its type */
      type: string
      /** The name of its type, which `type` in a request may be as well */
      kind: 'agent_chat' | 'chat' | 'chat_room' | 'comments' | 'files' | 'posts' | 'private_chat'
    }
  }
  user: ActorRef
  metadata?: Record<string, unknown>
  created_at: string
  updated_at?: string
  is_unread: boolean
}

export interface Option {
  id: number
  text: string
  /** By the caller */
  has_voted: boolean
  /** The first 100 voters, in voting order */
  votes: { data?: UserSummary[]; start?: number; end?: number; count: number }
}

export interface OptionItem {
  id: number
  text: string
  /** By the caller */
  has_voted: boolean
}

export interface Post {
  id: number
  text?: string
  html?: string
  plain?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  is_starred: boolean
  is_subscribed: boolean
  is_trashed: boolean
  created_at: string
  updated_at?: string
  app: AppSummary
  parent?: { id: number; type: 'post' | 'file' }
  attachments: { data?: File[]; start?: number; end?: number; count: number }
  /** Empty where it is no poll */
  options: { data?: OptionSummary[]; start?: number; end?: number; count: number }
  /** The first 100; for the UI kit, which counts them, all that an answer has room for */
  reactions: { data?: Reaction[]; start?: number; end?: number; count: number }
  embed?: Embed
  meeting?: Meeting
  /** Files that contributed to the answer of an agent */
  annotations: { data?: File[]; start?: number; end?: number; count: number }
  created_by: UserSummary
  updated_by?: UserSummary
  comments: { count: number }
}

export interface PostSummary {
  id: number
  text?: string
  html?: string
  plain?: string
  metadata?: Record<string, unknown>
  tags?: string[]
  is_starred: boolean
  is_subscribed: boolean
  is_trashed: boolean
  created_at: string
  updated_at?: string
  app?: AppSummary
  parent?: { id: number; type: 'post' | 'file' }
  attachments?: { data?: File[]; start?: number; end?: number; count: number }
  /** Empty where it is no poll */
  options?: { data?: OptionSummary[]; start?: number; end?: number; count: number }
  /** The first 100; for the UI kit, which counts them, all that an answer has room for */
  reactions?: { data?: Reaction[]; start?: number; end?: number; count: number }
  embed?: Embed
  meeting?: Meeting
  /** Files that contributed to the answer of an agent */
  annotations?: { data?: File[]; start?: number; end?: number; count: number }
  created_by?: UserSummary
  updated_by?: UserSummary
  comments?: { count: number }
}

export interface ReactionSummary {
  content: string
  created_at: string
}

export interface SearchHit {
  type: 'message' | 'post' | 'comment' | 'file' | 'user' | 'app'
  id: number
  /** Of a file, a user or an app */
  name?: string
  snippet: Snippet
  /** Where it is; of an app, the app itself */
  app?: AppSummary
  /** Of a comment, and of a file that is attached: what it is on */
  parent?: { id: number; type: 'message' | 'post' | 'comment' | 'file' }
  /** Where in the text of a file it was found, such as `page 3` */
  place?: string
  /** Of a user, the user itself */
  created_by?: UserSummary
  created_at?: string
  updated_at?: string
}

export interface Snippet {
  /** Plain text around what was found; escape it before it is put into HTML */
  text: string
  /** What was found in it, in UTF-16 code units; the end is excluded */
  marks?: { start: number; end: number }[]
}

export interface SignIn {
  id: number
  key: { id: number; name: string }
  created_at: string
  /** When it was used last, to a minute */
  used_at: string
  expires_at: string
  /** Where it was begun from */
  ip?: string
  /** What the browser calls itself */
  agent?: string
  /** It is the session of this request */
  is_current: boolean
}

export interface Grant {
  id: number
  /** In whose name the client acts */
  user: { id: number; uid?: string; name: string }
  /** What the client calls itself */
  client: string
  /** Where the client had the answer sent: of it, only this is checked */
  redirect_uri: string
  created_at: string
  /** When it last wrote, or renewed its token: to an hour */
  used_at: string
  /** When it ends if it is not used */
  expires_at: string
  /** Calls of tools that write */
  writes: number
}

export interface Webhook {
  id: number
  payload_url: string
  triggers: (
    'agents' | 'apps' | 'audit' | 'comments' | 'files' | 'messages' | 'notifications' | 'polls' | 'posts' | 'reactions'
  )[]
  is_enabled: boolean
  retries: number
  /** Since when no delivery has succeeded; absent where the last one has */
  failing_since?: string
  /** Why the server has disabled it */
  disabled_reason?: string
}

export interface WebhookDetails {
  id: number
  payload_url: string
  triggers: (
    'agents' | 'apps' | 'audit' | 'comments' | 'files' | 'messages' | 'notifications' | 'polls' | 'posts' | 'reactions'
  )[]
  is_enabled: boolean
  retries: number
  /** Since when no delivery has succeeded; absent where the last one has */
  failing_since?: string
  /** Why the server has disabled it */
  disabled_reason?: string
  /** Deliveries that wait */
  queued: number
  oldest_queued_at?: string
  failures_24h: number
  last_success_at?: string
  last_attempt_at?: string
  /** Why the last attempt has failed; absent where it has not */
  last_error?: string
  /** When the next delivery that has failed is attempted again */
  next_attempt_at?: string
}

export interface DeliverySummary {
  id: number
  webhook_id: number
  /** The X-Service-Delivery header */
  guid: string
  /** The id in the payload, shared by all deliveries of the event */
  event_id: number
  action: string
  /** When it was attempted last */
  delivered_at?: string
  /** Seconds with fraction, as a string by default */
  duration?: string | number
  status: 'queued' | 'success' | 'failure'
  /** What the receiver answered; absent where it did not */
  status_code?: number
  /** Why the last attempt had no complete answer */
  error?: string
  attempts: number
  /** When it is attempted again */
  next_attempt_at?: string
}

export interface Delivery {
  id: number
  webhook_id: number
  /** The X-Service-Delivery header */
  guid: string
  /** The id in the payload, shared by all deliveries of the event */
  event_id: number
  action: string
  /** When it was attempted last */
  delivered_at?: string
  /** Seconds with fraction, as a string by default */
  duration?: string | number
  status: 'queued' | 'success' | 'failure'
  /** What the receiver answered; absent where it did not */
  status_code?: number
  /** Why the last attempt had no complete answer */
  error?: string
  attempts: number
  /** When it is attempted again */
  next_attempt_at?: string
  /** What was sent */
  request?: { url: string; method: string; headers: Record<string, unknown>; body: string }
  response?: {
    status_code?: number
    headers?: Record<string, unknown>
    /** The first 64 KiB */
    body?: string
    /** Why there was no complete answer */
    error?: string
  }
}

export interface RotatedWebhook {
  id: number
  payload_url: string
  triggers: (
    'agents' | 'apps' | 'audit' | 'comments' | 'files' | 'messages' | 'notifications' | 'polls' | 'posts' | 'reactions'
  )[]
  is_enabled: boolean
  retries: number
  /** Since when no delivery has succeeded; absent where the last one has */
  failing_since?: string
  /** Why the server has disabled it */
  disabled_reason?: string
  /** The new secret, shown this once; the one before signs along for 24 hours */
  secret: string
}

export interface AdminSession {
  id: number
  /** The API key that was signed in with */
  key: { id: number; name: string }
  created_at: string
  /** When it ends at the latest; unused, it ends after half an hour */
  expires_at: string
}

export interface DeliveredApp {
  id: number
  rev: number
  /** The guid of its type */
  type: string
  /** The name of its type, which `type` in a request may be as well */
  kind: 'agent_chat' | 'chat' | 'chat_room' | 'comments' | 'files' | 'posts' | 'private_chat'
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
  picture?: Blob
}

export interface SentEventContent {
  id: number
  metadata?: Record<string, unknown>
  tags?: string[]
  is_trashed: boolean
  created_at: string
  updated_at?: string
  app: EventApp
  parent?: { id: number; type: string; comments?: { count: number } }
  attachments?: { data?: SentEventFile[]; start?: number; end?: number; count: number }
  options?: { data?: SentEventOption[]; start?: number; end?: number; count: number }
  reactions?: { data?: Reaction[]; start?: number; end?: number; count: number }
  embed?: SentEmbed
  meeting?: Meeting
  annotations?: { data?: SentEventCitedFile[]; start?: number; end?: number; count: number }
  created_by: ActorRef
  updated_by?: ActorRef
  /** Of posts */
  comments?: { count: number }
}

export interface EventApp {
  id: number
  rev: number
  /** The guid of its type */
  type: string
  /** The name of its type, which `type` in a request may be as well */
  kind: 'agent_chat' | 'chat' | 'chat_room' | 'comments' | 'files' | 'posts' | 'private_chat'
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

export interface SentEventFile {
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
  created_by: ActorRef
  updated_at?: string
  updated_by?: ActorRef
}

export interface SentEventOption {
  id: number
  votes: { count: number }
}

export interface SentEmbed {
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
  width?: number
  height?: number
}

export interface SentEventCitedFile {
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
  created_by: ActorRef
  updated_at?: string
  updated_by?: ActorRef
}

export interface TrashedRef {
  id: number
  app: EventApp
  parent?: { id: number; type: string; comments?: { count: number } }
  is_trashed: true
}

export interface EventRef {
  id: number
  app: EventApp
  parent?: { id: number; type: string; comments?: { count: number } }
}

/** Parameters that several lists have. */
interface Shared {
  /** Number of items to skip */
  skip?: string | number | undefined
  /** Maximum number of items, 1 to 100; default 25 */
  take?: string | number | undefined
  /** true: answer with the count alone */
  count_only?: boolean | undefined
  /** Whether items are summaries or whole; default: summaries */
  out?: 'summary' | 'details' | undefined
  /** Matches items by name */
  q?: string | number | undefined
  /** Items having any of the tags, 50 at most; repeat the parameter */
  tag?: readonly (string | number)[] | undefined
  /** true: only trashed items; null: trashed or not */
  trashed?: boolean | 'null' | undefined
  /** Fields to sort by, each optionally with a direction: `id` or `id+desc` */
  order_by?: string | number | undefined
  /** true (default): words of q may be beginnings; false: whole words */
  autocomplete?: boolean | undefined
  since?: string | number | undefined
  until?: string | number | undefined
  e?: string | number | undefined
  s?: string | number | undefined
  d?: string | number | undefined
  /** Id or uid of a user: only items by that user */
  created_by?: string | number | undefined
  /** An id: the page with this item in its middle */
  around?: string | number | undefined
  /** true: the system user too */
  system?: boolean | undefined
  /** Only reactions with this emoji */
  content?: string | number | undefined
}

export interface Paths {
  '/api/admin/nodes': {
    /** List the nodes that run */
    get: { answer: Node[] }
  }
  '/api/admin/series': {
    /** Get a figure over time, of all nodes: minute by minute for eight days */
    get: {
      query: {
        name:
          | 'requests_2xx'
          | 'requests_3xx'
          | 'requests_4xx'
          | 'requests_5xx'
          | 'requests_429'
          | 'requests_503'
          | 'request_p50_ms'
          | 'request_p99_ms'
          | 'commits'
          | 'commands'
          | 'collisions'
          | 'commit_p50_ms'
          | 'commit_p99_ms'
          | 'mailbox'
          | 'apps'
          | 'sessions'
          | 'sessions_native'
          | 'sessions_hub'
          | 'users_connected'
          | 'channels'
          | 'deliveries_success'
          | 'deliveries_failure'
          | 'deliveries_queued'
          | 'background_waiting'
          | 'background_lag_ms'
          | 'agent_runs_done'
          | 'agent_runs_failed'
          | 'agent_runs_open'
          | 'agent_tokens_in'
          | 'agent_tokens_out'
          | 'bus_down'
          | 'pool_waits'
          | 'pool_wait_p99_ms'
          | 'replica_reads'
          | 'database_bytes'
          | 'lag_ms'
          | 'loop_busy_percent'
          | 'cpu_seconds'
          | 'rss_bytes'
          | 'heap_bytes'
          | 'external_bytes'
          | undefined
        /** Default: an hour ago */
        from?: string | number | undefined
        /** Default: now */
        to?: string | number | undefined
        /** Seconds that a point stands for; default 60. Counters are added up, others averaged; of some the worst counts */
        step?: string | number | undefined
        /** Only of this node */
        node?: string | number | undefined
      }
      answer: Series
    }
  }
  '/api/admin/settings': {
    /** List the settings of this node, and where they come from */
    get: { answer: Setting[] }
  }
  '/api/admin/jobs': {
    /** List what nodes do again and again, with its last turn; of other nodes as of a minute ago */
    get: { answer: Job[] }
  }
  '/api/admin/storage': {
    /** Get what files take up, by app, the largest hundred; counted once an hour at most */
    get: { answer: Storage }
  }
  '/api/admin/sessions': {
    /** List the realtime connections of all nodes, newest first */
    get: {
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'> & {
        /** Id or uid: only connections of this user */
        user?: string | number | undefined
        /** Id or uid: only connections that are subscribed to this app */
        app?: string | number | undefined
      }
      answer: RealtimeSessions
    }
  }
  '/api/admin/sessions/{id}': {
    /** End a realtime connection, whichever node it is on: at once, without Redis within two seconds */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/agents': {
    /** Create an agent */
    post: {
      body: {
        /** Public URL, base64 data URI or blob id; null removes it */
        picture?: number | string | null
        /** Ids or names; replaces the whole set */
        directories?: (number | string)[] | null
        comment?: string | null
        tags?: string[] | null
        metadata?: Record<string, unknown> | null
        /** Unique by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \ ? # %` */
        uid: unknown & unknown & unknown & unknown
        name: string
        provider: 'anthropic' | 'openai' | 'gemini' | 'kapa' | 'builtin'
        /** Model name of the provider */
        model: string
        /** System instructions: objectives, tone, style */
        instructions?: string | null
        /** Endpoints that the agent may call; replaces the whole set */
        functions?:
          | {
              name: string
              description: string
              /** `{name}` segments are filled from the arguments */
              url: string
              method?: string | null
              headers?: Record<string, unknown> | null
              parameters?: Record<string, unknown> | null
            }[]
          | null
        /** Ids or uids of files apps */
        knowledge?: (number | string)[] | null
        web_search?: boolean | null
        /** Most tokens to generate; null: what the provider does by default */
        max_tokens?: number | string | null
      }
      answer: Agent
    }
    /** List the agents that are visible to the caller */
    get: {
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'autocomplete'
      > & {
        /** Id or name: only agents in that directory */
        directory?: string | number | undefined
      }
      answer: { data?: (Agent | AgentSummary)[]; start?: number; end?: number; count: number }
    }
  }
  '/api/agents/{agent}': {
    /** Get an agent */
    get: {
      path: { agent: string | number }
      query?: {
        /** true or null: also when it is trashed */
        trashed?: boolean | 'null' | undefined
      }
      answer: Agent
    }
    /** Update an agent; absent members stay, null clears */
    patch: {
      path: { agent: string | number }
      body?: {
        /** Public URL, base64 data URI or blob id; null removes it */
        picture?: number | string | null
        /** Ids or names; replaces the whole set */
        directories?: (number | string)[] | null
        comment?: string | null
        tags?: string[] | null
        metadata?: Record<string, unknown> | null
        /** Unique among users and agents by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \ ? # %`; `u` and digits only with the own id */
        uid?: (unknown & unknown & unknown & unknown) | null
        /** Used in listings and mentions */
        name?: string | null
        /** builtin only for agents that have it */
        provider?: 'anthropic' | 'openai' | 'gemini' | 'kapa' | 'builtin'
        /** Model name of the provider */
        model?: string
        /** System instructions: objectives, tone, style */
        instructions?: string | null
        /** Endpoints that the agent may call; replaces the whole set */
        functions?:
          | {
              name: string
              description: string
              /** `{name}` segments are filled from the arguments */
              url: string
              method?: string | null
              headers?: Record<string, unknown> | null
              parameters?: Record<string, unknown> | null
            }[]
          | null
        /** Ids or uids of files apps */
        knowledge?: (number | string)[] | null
        web_search?: boolean | null
        /** Most tokens to generate; null: what the provider does by default */
        max_tokens?: number | string | null
      }
      answer: Agent
    }
    /** Update the agent with this uid, or create it */
    put: {
      path: { agent: string | number }
      body?: {
        /** Public URL, base64 data URI or blob id; null removes it */
        picture?: number | string | null
        /** Ids or names; replaces the whole set */
        directories?: (number | string)[] | null
        comment?: string | null
        tags?: string[] | null
        metadata?: Record<string, unknown> | null
        /** Unique among users and agents by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \ ? # %`; `u` and digits only with the own id */
        uid?: (unknown & unknown & unknown & unknown) | null
        /** Used in listings and mentions */
        name?: string | null
        /** builtin only for agents that have it */
        provider?: 'anthropic' | 'openai' | 'gemini' | 'kapa' | 'builtin'
        /** Model name of the provider */
        model?: string
        /** System instructions: objectives, tone, style */
        instructions?: string | null
        /** Endpoints that the agent may call; replaces the whole set */
        functions?:
          | {
              name: string
              description: string
              /** `{name}` segments are filled from the arguments */
              url: string
              method?: string | null
              headers?: Record<string, unknown> | null
              parameters?: Record<string, unknown> | null
            }[]
          | null
        /** Ids or uids of files apps */
        knowledge?: (number | string)[] | null
        web_search?: boolean | null
        /** Most tokens to generate; null: what the provider does by default */
        max_tokens?: number | string | null
      }
      answer: Agent
    }
    /** Delete an agent for good; what it wrote stays */
    delete: { path: { agent: string | number }; answer: undefined }
  }
  '/api/agents/{agent}/trash': {
    /** Trash an agent: it is hidden, and answers nothing */
    post: { path: { agent: string | number }; answer: undefined }
  }
  '/api/agents/{agent}/restore': {
    /** Restore a trashed agent */
    post: { path: { agent: string | number }; answer: undefined }
  }
  '/api/agents/{agent}/functions': {
    /** Add a function that an agent may use */
    post: {
      path: { agent: string | number }
      body: {
        name: string
        description: string
        /** `{name}` segments are filled from the arguments */
        url: string
        method?: string | null
        headers?: Record<string, unknown> | null
        parameters?: Record<string, unknown> | null
      }
      answer: AgentFunction
    }
    /** List the functions of an agent */
    get: { path: { agent: string | number }; answer: AgentFunction[] }
  }
  '/api/agents/{agent}/functions/{name}': {
    /** Get a function of an agent */
    get: { path: { agent: string | number; name: string | number }; answer: AgentFunction }
    /** Update or rename a function of an agent */
    patch: {
      path: { agent: string | number; name: string | number }
      body?: {
        name?: string
        description?: string
        /** `{name}` segments are filled from the arguments */
        url?: string
        method?: string | null
        headers?: Record<string, unknown> | null
        parameters?: Record<string, unknown> | null
      }
      answer: AgentFunction
    }
    /** Add or update a function of an agent by name */
    put: {
      path: { agent: string | number; name: string | number }
      body: {
        name: string
        description: string
        /** `{name}` segments are filled from the arguments */
        url: string
        method?: string | null
        headers?: Record<string, unknown> | null
        parameters?: Record<string, unknown> | null
      }
      answer: AgentFunction
    }
    /** Remove a function of an agent */
    delete: { path: { agent: string | number; name: string | number }; answer: undefined }
  }
  '/api/agents/{agent}/mcp': {
    /** Add a tool server that an agent may use */
    post: {
      path: { agent: string | number }
      body: {
        /** Tells the server from others in tool calls */
        name: string
        url: string
        description?: string | null
        /** Absent: all */
        allowed_tools?: string[] | null
        /** Default: always */
        approval_mode?: 'always' | 'never' | null
        headers?: Record<string, unknown> | null
      }
      answer: ToolServer
    }
    /** List the servers of an agent */
    get: { path: { agent: string | number }; answer: ToolServer[] }
  }
  '/api/agents/{agent}/mcp/{name}': {
    /** Get a tool server of an agent */
    get: { path: { agent: string | number; name: string | number }; answer: ToolServer }
    /** Update or rename a tool server of an agent */
    patch: {
      path: { agent: string | number; name: string | number }
      body?: {
        /** Tells the server from others in tool calls */
        name?: string
        url?: string
        description?: string | null
        /** Absent: all */
        allowed_tools?: string[] | null
        /** Default: always */
        approval_mode?: 'always' | 'never' | null
        headers?: Record<string, unknown> | null
      }
      answer: ToolServer
    }
    /** Add or update a tool server of an agent by name */
    put: {
      path: { agent: string | number; name: string | number }
      body: {
        /** Tells the server from others in tool calls */
        name: string
        url: string
        description?: string | null
        /** Absent: all */
        allowed_tools?: string[] | null
        /** Default: always */
        approval_mode?: 'always' | 'never' | null
        headers?: Record<string, unknown> | null
      }
      answer: ToolServer
    }
    /** Remove a tool server of an agent */
    delete: { path: { agent: string | number; name: string | number }; answer: undefined }
  }
  '/api/agents/{agent}/mcp/{name}/tools': {
    /** List the tools that a tool server has now */
    get: { path: { agent: string | number; name: string | number }; answer: OfferedTool[] }
  }
  '/api/runs': {
    /** List what agents did to answer */
    get: {
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'since' | 'until'> & {
        state?: 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'merged' | 'expired' | undefined
        app?: string | number | undefined
        /** Who asked */
        user?: string | number | undefined
        error?: string | number | undefined
      }
      answer: { data?: AgentRun[]; start?: number; end?: number; count: number }
    }
  }
  '/api/agents/{agent}/runs': {
    /** List what an agent did to answer */
    get: {
      path: { agent: string | number }
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'since' | 'until'> & {
        state?: 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'merged' | 'expired' | undefined
        app?: string | number | undefined
        /** Who asked */
        user?: string | number | undefined
        error?: string | number | undefined
      }
      answer: { data?: AgentRun[]; start?: number; end?: number; count: number }
    }
  }
  '/api/apps/{app}/runs': {
    /** List what agents are doing in an app */
    get: {
      path: { app: string | number }
      query?: Pick<Shared, 'skip' | 'take' | 'count_only'>
      answer: { data?: AgentRun[]; start?: number; end?: number; count: number }
    }
  }
  '/api/runs/{id}': {
    /** Get a run of an agent */
    get: { path: { id: string | number }; answer: AgentRunDetails }
  }
  '/api/runs/{id}/cancel': {
    /** End a run; nothing is posted, or with keep what was written so far */
    post: {
      path: { id: string | number }
      body?: {
        /** Post what was written so far */
        keep?: boolean | null
      }
      answer: undefined
    }
  }
  '/api/runs/{id}/retry': {
    /** Answer again what was not answered */
    post: { path: { id: string | number }; answer: AgentRun }
  }
  '/api/agent-usage': {
    /** What agents were used for, and what that took */
    get: {
      query?: Pick<Shared, 'since' | 'until'> & { by?: 'day' | 'agent' | 'user' | 'model' | undefined }
      answer: {
        /** The day, the id of the agent or user, or the model */
        key: string
        runs: number
        errors: number
        input: number
        output: number
        cached: number
        /** Milliseconds from question to reply */
        p50?: number
        p95?: number
      }[]
    }
  }
  '/api/agent-providers': {
    /** List the providers of models, and whether they are configured */
    get: { answer: { id: string; is_configured: boolean; host?: string }[] }
  }
  '/api/approvals': {
    /** List the calls that the caller is asked to approve; with an API key all */
    get: {
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'> & {
        /** Default: pending */
        state?: 'pending' | 'approved' | 'declined' | 'lapsed' | undefined
      }
      answer: { data?: AgentApproval[]; start?: number; end?: number; count: number }
    }
  }
  '/api/approvals/{id}': {
    /** Get what is asked, with all of its arguments */
    get: { path: { id: string | number }; answer: AgentApproval }
    /** Approve or decline a call: for the user who asked the agent, and for API keys */
    post: { path: { id: string | number }; body: { approved: boolean; note?: string | null }; answer: AgentApproval }
  }
  '/api/agents/{agent}/knowledge': {
    /** List the files that an agent searches */
    get: {
      path: { agent: string | number }
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: KnowledgeFile[]; start?: number; end?: number; count: number }
    }
  }
  '/api/agents/{agent}/test': {
    /** Try an agent: answers as in a chat, and writes nothing; as events (delta, step, end) where these are accepted */
    post: {
      path: { agent: string | number }
      body: {
        /** The question */
        text: string
        /** Id or uid of the user who is said to ask; default: the API key */
        user?: number | string | null
        /** What was said before, oldest first */
        history?: { role: 'user' | 'agent'; text: string }[] | null
        /** Instead of those of the agent */
        instructions?: string | null
        /** none: none are offered; dry (default): they are offered and not called; real: they are called, unasked */
        tools?: 'none' | 'dry' | 'real' | null
      }
      answer: AgentTest
    }
  }
  '/api/apps': {
    /** List apps: those the caller is a member of, or all with an API key */
    get: {
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out'> & {
        directory?: string | number | undefined
        archived?: boolean | undefined
        member?: string | number | undefined
        type?: readonly (string | number)[] | undefined
        /** true: only apps with a uid; false: only those without; else these uids */
        uid?: readonly (string | number)[] | undefined
        unread?: boolean | undefined
      }
      answer: { data?: (App | AppSummary)[]; start?: number; end?: number; count: number }
    }
    /** Create an app */
    post: {
      body: {
        type: string
        uid?: (unknown & unknown & unknown & unknown) | null
        name?: string | null
        description?: string | null
        metadata?: Record<string, unknown> | null
        /** Public URL, base64 data URI or blob id; null removes it */
        picture?: number | string | null
        tags?: string[] | null
        access?: 'none' | 'read' | 'write' | null
        directory?: number | string | null
        members?: (number | string)[] | null
      }
      answer: App
    }
  }
  '/api/apps/{app}': {
    /** Get an app */
    get: {
      path: { app: string | number }
      query?: Pick<Shared, 'out'> & { trashed?: boolean | undefined }
      answer: App
    }
    /** Update an app */
    patch: {
      path: { app: string | number }
      body?: {
        uid?: (unknown & unknown & unknown & unknown) | null
        name?: string | null
        description?: string | null
        metadata?: Record<string, unknown> | null
        /** Public URL, base64 data URI or blob id; null removes it */
        picture?: number | string | null
        tags?: string[] | null
        access?: 'none' | 'read' | 'write' | null
        directory?: number | string | null
      }
      answer: App
    }
    /** Create an app or update the one with this uid */
    put: {
      path: { app: string | number }
      body: {
        type: string
        name?: string | null
        description?: string | null
        metadata?: Record<string, unknown> | null
        /** Public URL, base64 data URI or blob id; null removes it */
        picture?: number | string | null
        tags?: string[] | null
        access?: 'none' | 'read' | 'write' | null
        directory?: number | string | null
        members?: (number | string)[] | null
      }
      answer: App
    }
    /** Delete an app and all its content for good */
    delete: { path: { app: string | number }; answer: undefined }
  }
  '/api/apps/{app}/trash': {
    /** Move an app to the trash */
    post: { path: { app: string | number }; answer: undefined }
  }
  '/api/apps/{app}/restore': {
    /** Take an app out of the trash */
    post: { path: { app: string | number }; answer: undefined }
  }
  '/api/apps/{app}/remove': {
    /** Remove the caller's copy of a private or agent chat */
    post: { path: { app: string | number }; answer: undefined }
  }
  '/api/apps/{app}/typing': {
    /** Tell the others that the caller is typing */
    put: { path: { app: string | number }; answer: undefined }
  }
  '/api/apps/{app}/mark': {
    /** Mark an app as read, up to a message or to its last one */
    put: { path: { app: string | number }; query?: { message_id?: string | number | undefined }; answer: undefined }
    /** Mark an app as unread */
    delete: { path: { app: string | number }; answer: undefined }
  }
  '/api/apps/{app}/archive': {
    /** Archive an app */
    put: { path: { app: string | number }; answer: undefined }
    /** Take an app out of the archive */
    delete: { path: { app: string | number }; answer: undefined }
  }
  '/api/apps/{app}/pin': {
    /** Pin an app */
    put: { path: { app: string | number }; answer: undefined }
    /** Unpin an app */
    delete: { path: { app: string | number }; answer: undefined }
  }
  '/api/apps/{app}/subscribe': {
    /** Subscribe to an app */
    post: { path: { app: string | number }; answer: App }
  }
  '/api/apps/{app}/unsubscribe': {
    /** Unsubscribe from an app */
    post: { path: { app: string | number }; answer: App }
  }
  '/api/audit': {
    /** List who changed what, newest first; with Accept: application/x-ndjson all that is found, an entry a line */
    get: {
      query?: Pick<Shared, 'q' | 'order_by' | 'skip' | 'take' | 'count_only' | 'since' | 'until'> & {
        action?:
          | 'key_created'
          | 'key_updated'
          | 'key_revoked'
          | 'keys_revoked'
          | 'signed_in'
          | 'sign_in_failed'
          | 'signed_out'
          | 'user_created'
          | 'user_updated'
          | 'user_trashed'
          | 'user_restored'
          | 'user_deleted'
          | 'token_issued'
          | 'tokens_revoked'
          | 'directory_created'
          | 'directory_updated'
          | 'directory_members_added'
          | 'directory_members_removed'
          | 'directory_deleted'
          | 'agent_created'
          | 'agent_updated'
          | 'agent_trashed'
          | 'agent_restored'
          | 'agent_deleted'
          | 'function_added'
          | 'function_updated'
          | 'function_removed'
          | 'tool_server_added'
          | 'tool_server_updated'
          | 'tool_server_removed'
          | 'approval_decided'
          | 'webhook_created'
          | 'webhook_updated'
          | 'webhook_deleted'
          | 'webhook_secret_rotated'
          | 'webhook_disabled'
          | 'delivery_repeated'
          | 'deliveries_repeated'
          | 'app_updated'
          | 'app_trashed'
          | 'app_restored'
          | 'app_deleted'
          | 'members_changed'
          | 'members_removed'
          | 'message_updated'
          | 'message_trashed'
          | 'message_restored'
          | 'message_deleted'
          | 'post_updated'
          | 'post_trashed'
          | 'post_restored'
          | 'post_deleted'
          | 'comment_updated'
          | 'comment_trashed'
          | 'comment_restored'
          | 'comment_deleted'
          | 'file_trashed'
          | 'file_restored'
          | 'file_deleted'
          | 'session_ended'
          | 'audit_exported'
          | 'tool_called'
          | 'client_allowed'
          | 'client_ended'
          | undefined
        /** Id of the API key that acted */
        key?: string | number | undefined
        /** Id of the session of the administration page that it acted through */
        session?: string | number | undefined
        /** What was acted on: `user`, `key`, `webhook`, … */
        target_type?: string | number | undefined
        target_id?: string | number | undefined
        /** Where the request came from */
        ip?: string | number | undefined
      }
      answer: { data?: AuditEntry[]; start?: number; end?: number; count: number }
    }
  }
  '/api/auth': {
    /** Check a username and password; the answer is the user, no token */
    post: { body: { username: string; password: string }; answer: User }
  }
  '/api/auth/exchange': {
    /** Exchange a token of the host for an access token, which ends no later */
    post: {
      body?: {
        /** Lifetime in seconds; default 3600 */
        expires_in?: number | string
      }
      answer: Token
    }
  }
  '/api/blobs': {
    /** Upload a file: a form (multipart/form-data) with one file in a part named blob */
    post: { body: FormData; answer: Blob }
  }
  '/api/blobs/external': {
    /** Name a file that is kept elsewhere */
    post: {
      body: {
        /** Such as `Google Drive` */
        provider: string
        /** For viewing */
        link: string
        name: string
        /** Bytes */
        size: number | string
        width?: number | string | null
        height?: number | string | null
        media_type?: string | null
        download?: string | null
        /** For showing in a frame */
        embed?: string | null
        /** What the provider says about it */
        raw?: {} | null
      }
      answer: Blob
    }
  }
  '/api/blobs/{id}': {
    /** Get a blob: for the user who uploaded it, and users who can read something that uses it */
    get: { path: { id: string | number }; answer: Blob }
  }
  '/api/apps/{app}/comments': {
    /** Create a comment in an app */
    post: {
      path: { app: string | number }
      body?: {
        text?: string | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** Blobs of the caller, each of which becomes an attachment */
        blobs?: (number | string)[] | null
        /** The options of a poll */
        options?: { text: string }[] | null
        /** An embed that the caller made or may see */
        embed_id?: number | string | null
        /** A meeting that the caller added */
        meeting_id?: number | string | null
        /** Blobs of the caller that agents read with this item; they are not shown */
        context?: (number | string)[] | null
      }
      answer: Comment
    }
    /** List the comments of an app; authors come with out=details */
    get: {
      path: { app: string | number }
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by' | 'around'
      >
      answer: { data?: CommentSummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/comments/{id}': {
    /** Get a comment */
    get: { path: { id: string | number }; query?: { trashed?: boolean | undefined }; answer: Comment }
    /** Edit a comment */
    patch: {
      path: { id: string | number }
      body?: {
        text?: string | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** Blobs to attach beside what is attached */
        blobs?: (number | string)[] | null
        /** The whole poll; empty: no poll any more */
        options?:
          | {
              /** Keeps this option and its votes; without it, it is new */
              id?: number | string | null
              text: string
            }[]
          | null
        /** An embed that the caller made or may see */
        embed_id?: number | string | null
        /** A meeting that the caller added */
        meeting_id?: number | string | null
        /** Has no effect: it is only read when an item is created */
        context?: unknown
        /** The attached files to keep; absent: all of them */
        attachments?: (number | string)[] | null
      }
      answer: Comment
    }
    /** Delete a comment for good */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/comments/{id}/trash': {
    /** Move a comment to the trash */
    post: { path: { id: string | number }; answer: undefined }
  }
  '/api/comments/{id}/restore': {
    /** Take a comment out of the trash */
    post: { path: { id: string | number }; answer: undefined }
  }
  '/api/comments': {
    /** List the comments of all apps that the caller may read; authors come with out=details */
    get: {
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by' | 'around'
      >
      answer: { data?: CommentSummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/posts/{id}/comments': {
    /** Comment on a post */
    post: {
      path: { id: string | number }
      body?: {
        text?: string | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** Blobs of the caller, each of which becomes an attachment */
        blobs?: (number | string)[] | null
        /** The options of a poll */
        options?: { text: string }[] | null
        /** An embed that the caller made or may see */
        embed_id?: number | string | null
        /** A meeting that the caller added */
        meeting_id?: number | string | null
        /** Blobs of the caller that agents read with this item; they are not shown */
        context?: (number | string)[] | null
      }
      answer: Comment
    }
    /** List the comments on a post; authors come with out=details */
    get: {
      path: { id: string | number }
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by' | 'around'
      >
      answer: { data?: CommentSummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/files/{id}/comments': {
    /** Comment on a file */
    post: {
      path: { id: string | number }
      body?: {
        text?: string | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** Blobs of the caller, each of which becomes an attachment */
        blobs?: (number | string)[] | null
        /** The options of a poll */
        options?: { text: string }[] | null
        /** An embed that the caller made or may see */
        embed_id?: number | string | null
        /** A meeting that the caller added */
        meeting_id?: number | string | null
        /** Blobs of the caller that agents read with this item; they are not shown */
        context?: (number | string)[] | null
      }
      answer: Comment
    }
    /** List the comments on a file; authors come with out=details */
    get: {
      path: { id: string | number }
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by' | 'around'
      >
      answer: { data?: CommentSummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/directories': {
    /** Create a directory */
    post: {
      body: {
        /** Unique by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \ ? # %` */
        name: unknown & unknown & unknown & unknown
      }
      answer: Directory
    }
    /** List directories: with a token those that its user is in */
    get: {
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: DirectoryRef[]; start?: number; end?: number; count: number }
    }
  }
  '/api/directories/{dir}': {
    /** Get a directory with its first members */
    get: { path: { dir: string | number }; answer: Directory }
    /** Rename a directory */
    patch: {
      path: { dir: string | number }
      body: {
        /** Unique by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \ ? # %` */
        name: unknown & unknown & unknown & unknown
      }
      answer: Directory
    }
    /** Delete a directory; apps that refer to it are closed to all but their members */
    delete: { path: { dir: string | number }; answer: undefined }
  }
  '/api/directories/{dir}/members': {
    /** List the people in a directory */
    get: {
      path: { dir: string | number }
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'autocomplete' | 'system'
      > & {
        /** true: only agents; false: only people */
        agent?: boolean | undefined
        /** Id or name: only people in that directory */
        directory?: string | number | undefined
      }
      answer: { data?: (User | UserSummary)[]; start?: number; end?: number; count: number }
    }
    /** Add users and agents to a directory, all or none */
    put: { path: { dir: string | number }; body: (number | string)[]; answer: undefined }
    /** Take users and agents out of a directory */
    delete: { path: { dir: string | number }; body: (number | string)[]; answer: undefined }
  }
  '/api/directories/{dir}/members/{user}': {
    /** Add a user or agent to a directory */
    put: { path: { dir: string | number; user: string | number }; answer: undefined }
    /** Take a user or agent out of a directory */
    delete: { path: { dir: string | number; user: string | number }; answer: undefined }
  }
  '/api/embeds': {
    /** Get an embed of what is at an address: 200 where one was made within a day, 201 where it is made now */
    get: {
      query: {
        /** What to embed */
        url: string | number | undefined
      }
      answer: Embed
    }
    /** Describe an embed that items can carry */
    post: {
      body: {
        type: 'link' | 'rich' | 'video'
        title?: string | null
        description?: string | null
        /** Public URL, base64 data URI or blob id; null removes it */
        image?: number | string | null
        url?: string | null
        /** Buttons of a link */
        actions?: string[] | null
        metadata?: Record<string, unknown> | null
        /** A single <iframe> element, for rich and video */
        html?: string | null
        /** For rich and video, in pixels */
        width?: number | string | null
        /** For rich and video, in pixels */
        height?: number | string | null
      }
      answer: Embed
    }
  }
  '/api/embeds/{id}': {
    /** Get an embed */
    get: { path: { id: string | number }; answer: Embed }
  }
  '/api/users/{user}/follow': {
    /** Follow a user or agent */
    post: { path: { user: string | number }; answer: User }
  }
  '/api/users/{user}/unfollow': {
    /** Follow a user or agent no longer */
    post: { path: { user: string | number }; answer: User }
  }
  '/api/users/{user}/followers': {
    /** List those who follow a user or agent */
    get: {
      path: { user: string | number }
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: (User | UserSummary)[]; start?: number; end?: number; count: number }
    }
  }
  '/api/users/{user}/following': {
    /** List the users that the caller follows; only of oneself */
    get: {
      path: { user: string | number }
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: (User | UserSummary)[]; start?: number; end?: number; count: number }
    }
  }
  '/api/files': {
    /** List the files of all apps that the caller may read */
    get: {
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by'
      > & {
        /** Ids or uids of apps, 100 at most; repeat the parameter */
        app?: readonly (string | number)[] | undefined
      }
      answer: { data?: File[]; start?: number; end?: number; count: number }
    }
  }
  '/api/apps/{app}/files': {
    /** Add a blob as a file to a files app */
    post: {
      path: { app: string | number }
      body: {
        /** A blob of the caller */
        blob_id: number | string
        /** Default: the name of the blob */
        name?: string | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** true: becomes the new version of a file that has the name */
        replace?: boolean | null
      }
      answer: File
    }
    /** List the files of an app */
    get: {
      path: { app: string | number }
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by'>
      answer: { data?: File[]; start?: number; end?: number; count: number }
    }
  }
  '/api/files/{id}': {
    /** Get a file */
    get: { path: { id: string | number }; query?: { trashed?: boolean | undefined }; answer: File }
    /** Rename a file, describe it anew, or give it new content */
    patch: {
      path: { id: string | number }
      body?: {
        name?: string
        /** New content */
        blob_id?: number | string
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** true: the content so far is kept as a version */
        backup?: boolean | null
      }
      answer: File
    }
    /** Delete a file for good, with all its versions */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/files/{id}/trash': {
    /** Move a file to the trash */
    post: { path: { id: string | number }; answer: undefined }
  }
  '/api/files/{id}/restore': {
    /** Take a file out of the trash */
    post: { path: { id: string | number }; answer: undefined }
  }
  '/api/messages/{id}/attachments': {
    /** List the files attached to a message */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by'>
      answer: { data?: File[]; start?: number; end?: number; count: number }
    }
  }
  '/api/posts/{id}/attachments': {
    /** List the files attached to a post */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by'>
      answer: { data?: File[]; start?: number; end?: number; count: number }
    }
  }
  '/api/comments/{id}/attachments': {
    /** List the files attached to a comment */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by'>
      answer: { data?: File[]; start?: number; end?: number; count: number }
    }
  }
  '/api/files/{id}/stars': {
    /** Star a file */
    post: { path: { id: string | number }; answer: Star }
    /** Take the star of a file back */
    delete: { path: { id: string | number }; answer: Star }
  }
  '/api/files/{id}/versions': {
    /** List the versions of a file, newest first */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: File[]; start?: number; end?: number; count: number }
    }
  }
  '/api/files/{id}/versions/{rev}': {
    /** Get a file as of one of its versions */
    get: { path: { id: string | number; rev: string | number }; answer: File }
    /** Delete an old version of a file */
    delete: { path: { id: string | number; rev: string | number }; answer: undefined }
  }
  '/api/files/{id}/versions/{rev}/restore': {
    /** Make a new version with the content of an old one */
    post: { path: { id: string | number; rev: string | number }; answer: undefined }
  }
  '/api/files/{id}/subscribe': {
    /** Subscribe to a file */
    post: { path: { id: string | number }; answer: File }
  }
  '/api/files/{id}/unsubscribe': {
    /** Unsubscribe from a file */
    post: { path: { id: string | number }; answer: File }
  }
  '/api/keys': {
    /** Make an API key, which is shown this once */
    post: {
      body: {
        /** What the key is for */
        name: string
        /** When it ends; without it and expires_in, never */
        expires_at?: string
        /** When it ends, in seconds from now; instead of expires_at */
        expires_in?: number | string
      }
      answer: MadeKey
    }
    /** List API keys */
    get: {
      query?: Pick<Shared, 'q' | 'order_by' | 'skip' | 'take' | 'count_only'> & {
        /** true: only keys that were revoked; false: only the others */
        revoked?: boolean | undefined
      }
      answer: { data?: Key[]; start?: number; end?: number; count: number }
    }
  }
  '/api/keys/{id}': {
    /** Get what is known of an API key */
    get: { path: { id: string | number }; answer: Key }
    /** Change the name of an API key, or when it ends */
    patch: {
      path: { id: string | number }
      body?: {
        /** What the key is for */
        name?: string
        /** Earlier or later than before; null: it does not end */
        expires_at?: string | null
      }
      answer: Key
    }
    /** Revoke an API key, for good */
    delete: {
      path: { id: string | number }
      query?: {
        /** true: also the key of this very request */
        force?: boolean | undefined
      }
      answer: undefined
    }
  }
  '/api/meetings': {
    /** Add a meeting that items can carry */
    post: {
      body: {
        /** zoom, microsoft, google or another name; absent, it is told from join_url */
        provider?: string | null
        provider_id?: string | null
        join_url: string
        metadata?: Record<string, unknown> | null
      }
      answer: Meeting
    }
  }
  '/api/apps/{app}/members': {
    /** List the members of an app, or people who could become members */
    get: {
      path: { app: string | number }
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'system'> & {
        /** true (default): words of q are beginnings of words; false: whole words */
        autocomplete?: boolean | undefined
        /** true: only agents; false: only people */
        agent?: boolean | undefined
        /** true (default): members; false: people who are not; null: all with access whom the caller can see */
        member?: boolean | 'null' | undefined
      }
      answer: { data?: Member[]; start?: number; end?: number; count: number }
    }
    /** Add members to an app or change their access */
    put: {
      path: { app: string | number }
      body: {
        user?: number | string
        id?: number | string
        uid?: number | string
        access?: 'none' | 'read' | 'write' | 'admin' | null
      }[]
      answer: Member[]
    }
    /** Remove members from an app */
    delete: { path: { app: string | number }; body: (number | string)[]; answer: undefined }
  }
  '/api/apps/{app}/members/{user}': {
    /** Add a member to an app or change their access */
    put: {
      path: { app: string | number; user: string | number }
      body?: { access?: 'none' | 'read' | 'write' | 'admin' | null }
      answer: Member
    }
    /** Remove a member from an app, or several named by ids with commas between */
    delete: { path: { app: string | number; user: string | number }; answer: undefined }
  }
  '/api/apps/{app}/messages': {
    /** Create a message in an app */
    post: {
      path: { app: string | number }
      body?: {
        text?: string | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** Blobs of the caller, each of which becomes an attachment */
        blobs?: (number | string)[] | null
        /** The options of a poll */
        options?: { text: string }[] | null
        /** An embed that the caller made or may see */
        embed_id?: number | string | null
        /** A meeting that the caller added */
        meeting_id?: number | string | null
        /** Blobs of the caller that agents read with this item; they are not shown */
        context?: (number | string)[] | null
      }
      answer: Message
    }
    /** List the messages of an app; authors come with out=details */
    get: {
      path: { app: string | number }
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by' | 'around'
      >
      answer: { data?: MessageSummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/messages/{id}': {
    /** Get a message */
    get: { path: { id: string | number }; query?: { trashed?: boolean | undefined }; answer: Message }
    /** Edit a message */
    patch: {
      path: { id: string | number }
      body?: {
        text?: string | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** Blobs to attach beside what is attached */
        blobs?: (number | string)[] | null
        /** The whole poll; empty: no poll any more */
        options?:
          | {
              /** Keeps this option and its votes; without it, it is new */
              id?: number | string | null
              text: string
            }[]
          | null
        /** An embed that the caller made or may see */
        embed_id?: number | string | null
        /** A meeting that the caller added */
        meeting_id?: number | string | null
        /** Has no effect: it is only read when an item is created */
        context?: unknown
        /** The attached files to keep; absent: all of them */
        attachments?: (number | string)[] | null
      }
      answer: Message
    }
    /** Delete a message for good */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/messages/{id}/trash': {
    /** Move a message to the trash */
    post: { path: { id: string | number }; answer: undefined }
  }
  '/api/messages/{id}/restore': {
    /** Take a message out of the trash */
    post: { path: { id: string | number }; answer: undefined }
  }
  '/api/messages': {
    /** List the messages of all apps that the caller may read; authors come with out=details */
    get: {
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by' | 'around'
      >
      answer: { data?: MessageSummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/notifications': {
    /** List the notifications of the caller, or with an API key of all users */
    get: {
      query?: Pick<Shared, 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out'> & {
        /** Matches beginnings of words of the text; with an API key and no user, of the newest 20,000 notifications */
        q?: string | number | undefined
        /** Only of this action, such as message_created */
        action?: string | number | undefined
        /** Only of this type; empty: all */
        type?: '' | 'activity' | 'mention' | 'reaction' | undefined
        /** true: only unread notifications; false: only read ones */
        unread?: boolean | undefined
        /** Id or name: only from apps of this directory */
        directory?: string | number | undefined
        /** Id or uid: only for this user; for API keys */
        user?: string | number | undefined
      }
      answer: { data?: Notification[]; start?: number; end?: number; count: number }
    }
    /** Notify a user */
    post: {
      body: {
        /** Who is to know: id or uid */
        user: number | string
        /** Markdown */
        text: string
        /** What it leads to */
        link?: { type: 'app' | 'file' | 'message' | 'comment' | 'post'; id: number | string } | null
        metadata?: Record<string, unknown> | null
      }
      answer: Notification
    }
  }
  '/api/notifications/{id}': {
    /** Get a notification */
    get: { path: { id: string | number }; answer: Notification }
    /** Delete a notification */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/notifications/{id}/mark': {
    /** Mark a notification as read */
    put: { path: { id: string | number }; answer: Notification }
    /** Mark a notification as unread */
    delete: { path: { id: string | number }; answer: Notification }
  }
  '/api/apps/{app}/notifications': {
    /** List the notifications of the caller that an app gave rise to */
    get: {
      path: { app: string | number }
      query?: Pick<Shared, 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out'> & {
        /** Matches beginnings of words of the text */
        q?: string | number | undefined
        /** Only of this action, such as message_created */
        action?: string | number | undefined
        /** Only of this type; empty: all */
        type?: '' | 'activity' | 'mention' | 'reaction' | undefined
        /** true: only unread notifications; false: only read ones */
        unread?: boolean | undefined
      }
      answer: { data?: Notification[]; start?: number; end?: number; count: number }
    }
  }
  '/api/notifications/mark': {
    /** Mark the notifications of the caller as read, up to one or all */
    put: {
      query?: {
        /** This and all earlier ones */
        id?: string | number | undefined
      }
      answer: undefined
    }
  }
  '/api/apps/{app}/notifications/mark': {
    /** Mark the notifications of an app as read, up to one or all */
    put: {
      path: { app: string | number }
      query?: {
        /** This and all earlier ones */
        id?: string | number | undefined
      }
      answer: undefined
    }
  }
  '/api/directories/{dir}/notifications/mark': {
    /** Mark the notifications of the apps of a directory as read, up to one or all */
    put: {
      path: { dir: string | number }
      query?: {
        /** This and all earlier ones */
        id?: string | number | undefined
      }
      answer: undefined
    }
  }
  '/api/options/{id}': {
    /** Get an option of a poll with its voters */
    get: { path: { id: string | number }; answer: Option }
  }
  '/api/options/{id}/vote': {
    /** Vote for an option, or withdraw the vote that it has */
    post: { path: { id: string | number }; answer: Option }
  }
  '/api/messages/{id}/options': {
    /** List the options of a message's poll */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: (OptionSummary | OptionItem)[]; start?: number; end?: number; count: number }
    }
  }
  '/api/posts/{id}/options': {
    /** List the options of a post's poll */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: (OptionSummary | OptionItem)[]; start?: number; end?: number; count: number }
    }
  }
  '/api/comments/{id}/options': {
    /** List the options of a comment's poll */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: (OptionSummary | OptionItem)[]; start?: number; end?: number; count: number }
    }
  }
  '/api/apps/{app}/posts': {
    /** Create a post in an app */
    post: {
      path: { app: string | number }
      body?: {
        text?: string | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** Blobs of the caller, each of which becomes an attachment */
        blobs?: (number | string)[] | null
        /** The options of a poll */
        options?: { text: string }[] | null
        /** An embed that the caller made or may see */
        embed_id?: number | string | null
        /** A meeting that the caller added */
        meeting_id?: number | string | null
        /** Blobs of the caller that agents read with this item; they are not shown */
        context?: (number | string)[] | null
      }
      answer: Post
    }
    /** List the posts of an app; authors come with out=details */
    get: {
      path: { app: string | number }
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by' | 'around'
      > & {
        /** Ids or uids of apps, 100 at most; repeat the parameter */
        app?: readonly (string | number)[] | undefined
        /** Only posts with a smaller id */
        before?: string | number | undefined
        /** Only posts with a larger id */
        after?: string | number | undefined
        /** true: only posts by users whom the caller follows */
        following?: boolean | undefined
      }
      answer: { data?: PostSummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/posts/{id}': {
    /** Get a post */
    get: { path: { id: string | number }; query?: { trashed?: boolean | undefined }; answer: Post }
    /** Edit a post */
    patch: {
      path: { id: string | number }
      body?: {
        text?: string | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
        /** Blobs to attach beside what is attached */
        blobs?: (number | string)[] | null
        /** The whole poll; empty: no poll any more */
        options?:
          | {
              /** Keeps this option and its votes; without it, it is new */
              id?: number | string | null
              text: string
            }[]
          | null
        /** An embed that the caller made or may see */
        embed_id?: number | string | null
        /** A meeting that the caller added */
        meeting_id?: number | string | null
        /** Has no effect: it is only read when an item is created */
        context?: unknown
        /** The attached files to keep; absent: all of them */
        attachments?: (number | string)[] | null
      }
      answer: Post
    }
    /** Delete a post for good */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/posts/{id}/trash': {
    /** Move a post to the trash */
    post: { path: { id: string | number }; answer: undefined }
  }
  '/api/posts/{id}/restore': {
    /** Take a post out of the trash */
    post: { path: { id: string | number }; answer: undefined }
  }
  '/api/posts': {
    /** List the posts of all apps that the caller may read; authors come with out=details */
    get: {
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'created_by' | 'around'
      > & {
        /** Ids or uids of apps, 100 at most; repeat the parameter */
        app?: readonly (string | number)[] | undefined
        /** Only posts with a smaller id */
        before?: string | number | undefined
        /** Only posts with a larger id */
        after?: string | number | undefined
        /** true: only posts by users whom the caller follows */
        following?: boolean | undefined
      }
      answer: { data?: PostSummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/posts/{id}/subscribe': {
    /** Subscribe to a post */
    post: { path: { id: string | number }; answer: Post }
  }
  '/api/posts/{id}/unsubscribe': {
    /** Unsubscribe from a post */
    post: { path: { id: string | number }; answer: Post }
  }
  '/api/messages/{id}/reactions': {
    /** React to a message; replaces an earlier reaction */
    post: { path: { id: string | number }; body: { content: string }; answer: undefined }
    /** List the reactions to a message */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'content'>
      answer: { data?: (Reaction | ReactionSummary)[]; start?: number; end?: number; count: number }
    }
    /** Take the caller's reaction to a message back */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/posts/{id}/reactions': {
    /** React to a post; replaces an earlier reaction */
    post: { path: { id: string | number }; body: { content: string }; answer: undefined }
    /** List the reactions to a post */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'content'>
      answer: { data?: (Reaction | ReactionSummary)[]; start?: number; end?: number; count: number }
    }
    /** Take the caller's reaction to a post back */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/comments/{id}/reactions': {
    /** React to a comment; replaces an earlier reaction */
    post: { path: { id: string | number }; body: { content: string }; answer: undefined }
    /** List the reactions to a comment */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'content'>
      answer: { data?: (Reaction | ReactionSummary)[]; start?: number; end?: number; count: number }
    }
    /** Take the caller's reaction to a comment back */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/search': {
    /** Search messages, posts, comments, files, people and apps that the caller may see */
    get: {
      query: {
        /** Words, of which each is the beginning of one that is found; phrases in quotation marks */
        q: string | number | undefined
        /** What is searched; repeat the parameter. Default: all */
        in?: readonly (string | number)[] | undefined
        /** Only what is in these apps: ids or uids, 100 at most; repeat the parameter */
        app?: readonly (string | number)[] | undefined
        /** Id or uid of a user: only what that user wrote or added */
        by?: string | number | undefined
        /** Only what was made at this time or later */
        from?: string | number | undefined
        /** Only what was made before this time */
        to?: string | number | undefined
        /** Only messages, posts and comments with all of these; repeat the parameter */
        has?: readonly (string | number)[] | undefined
        /** Default: relevance, of the newest finds of each kind */
        order?: 'relevance' | 'newest' | undefined
        /** Maximum number of hits, 1 to 100; default 25 */
        take?: string | number | undefined
        /** The `cursor` of the page before, with the same question */
        cursor?: string | number | undefined
      }
      answer: {
        data?: SearchHit[]
        /** Asks for the next page; absent on the last one */
        cursor?: string
      }
    }
  }
  '/api/admin/sign-ins': {
    /** List the sessions of the administration page that have not ended, newest first */
    get: {
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: SignIn[]; start?: number; end?: number; count: number }
    }
  }
  '/api/admin/sign-ins/{id}': {
    /** End a session of the administration page */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/stars': {
    /** List what the caller starred, newest first */
    get: {
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: Star[]; start?: number; end?: number; count: number }
    }
  }
  '/api/apps/{app}/stars': {
    /** Star an app */
    post: { path: { app: string | number }; answer: Star }
    /** Take the star of an app back */
    delete: { path: { app: string | number }; answer: Star }
  }
  '/api/messages/{id}/stars': {
    /** Star a message */
    post: { path: { id: string | number }; answer: Star }
    /** Take the star of a message back */
    delete: { path: { id: string | number }; answer: Star }
  }
  '/api/posts/{id}/stars': {
    /** Star a post */
    post: { path: { id: string | number }; answer: Star }
    /** Take the star of a post back */
    delete: { path: { id: string | number }; answer: Star }
  }
  '/api/comments/{id}/stars': {
    /** Star a comment */
    post: { path: { id: string | number }; answer: Star }
    /** Take the star of a comment back */
    delete: { path: { id: string | number }; answer: Star }
  }
  '/api/users/{user}/tokens': {
    /** Issue an access token to a user or agent */
    post: {
      path: { user: string | number }
      body?: {
        /** Lifetime in seconds; default 3600 */
        expires_in?: number | string
      }
      answer: Token
    }
    /** Revoke all access tokens of a user or agent */
    delete: { path: { user: string | number }; answer: undefined }
  }
  '/api/admin/grants': {
    /** List the clients that users let act in their names through /mcp, newest first */
    get: {
      query?: Pick<Shared, 'skip' | 'take' | 'count_only' | 'out'> & {
        /** Id or uid: only clients of this user */
        user?: string | number | undefined
      }
      answer: { data?: Grant[]; start?: number; end?: number; count: number }
    }
  }
  '/api/admin/grants/{id}': {
    /** End what a user has allowed a client */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/users': {
    /** Create a user */
    post: {
      body: {
        /** Unique by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \ ? # %` */
        uid: unknown & unknown & unknown & unknown
        /** Full displayable name */
        name?: string | null
        given_name?: string | null
        middle_name?: string | null
        family_name?: string | null
        nickname?: string | null
        email?: string | null
        phone_number?: string | null
        /** For authentication; unique by its fold */
        username?: string | null
        /** For authentication; never returned, null removes it */
        password?: string | null
        comment?: string | null
        /** Public URL, base64 data URI or blob id; null removes it */
        picture?: number | string | null
        /** Ids or names; replaces the whole set */
        directories?: (number | string)[] | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
      }
      answer: User
    }
    /** List the users and agents that are visible to the caller */
    get: {
      query?: Pick<
        Shared,
        'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out' | 'autocomplete' | 'system'
      > & {
        /** true: only agents; false: only people */
        agent?: boolean | undefined
        /** Id or name: only people in that directory */
        directory?: string | number | undefined
      }
      answer: { data?: (User | UserSummary)[]; start?: number; end?: number; count: number }
    }
  }
  '/api/user': {
    /** Get the authenticated user */
    get: { answer: User }
  }
  '/api/users/{user}': {
    /** Get a user or agent */
    get: {
      path: { user: string | number }
      query?: {
        /** true or null: also when it is trashed */
        trashed?: boolean | 'null' | undefined
      }
      answer: User
    }
    /** Update a user; absent members stay, null clears */
    patch: {
      path: { user: string | number }
      body?: {
        /** Unique among users and agents by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \ ? # %`; `u` and digits only with the own id */
        uid?: (unknown & unknown & unknown & unknown) | null
        /** Full displayable name */
        name?: string | null
        given_name?: string | null
        middle_name?: string | null
        family_name?: string | null
        nickname?: string | null
        email?: string | null
        phone_number?: string | null
        /** For authentication; unique by its fold */
        username?: string | null
        /** For authentication; never returned, null removes it */
        password?: string | null
        comment?: string | null
        /** Public URL, base64 data URI or blob id; null removes it */
        picture?: number | string | null
        /** Ids or names; replaces the whole set */
        directories?: (number | string)[] | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
      }
      answer: User
    }
    /** Update the user with this uid, or create it */
    put: {
      path: { user: string | number }
      body?: {
        /** Unique among users and agents by its fold: no whitespace, at least one non-digit, nothing invisible, none of `/ \ ? # %`; `u` and digits only with the own id */
        uid?: (unknown & unknown & unknown & unknown) | null
        /** Full displayable name */
        name?: string | null
        given_name?: string | null
        middle_name?: string | null
        family_name?: string | null
        nickname?: string | null
        email?: string | null
        phone_number?: string | null
        /** For authentication; unique by its fold */
        username?: string | null
        /** For authentication; never returned, null removes it */
        password?: string | null
        comment?: string | null
        /** Public URL, base64 data URI or blob id; null removes it */
        picture?: number | string | null
        /** Ids or names; replaces the whole set */
        directories?: (number | string)[] | null
        metadata?: Record<string, unknown> | null
        tags?: string[] | null
      }
      answer: User
    }
    /** Delete a user for good; what it wrote stays */
    delete: { path: { user: string | number }; answer: undefined }
  }
  '/api/users/{user}/trash': {
    /** Trash a user: out of sight, and its tokens are rejected */
    post: { path: { user: string | number }; answer: undefined }
  }
  '/api/users/{user}/restore': {
    /** Restore a trashed user */
    post: { path: { user: string | number }; answer: undefined }
  }
  '/api/webhooks': {
    /** Register a webhook */
    post: {
      body: {
        /** Where deliveries are posted to */
        payload_url: string
        /** Only events of these triggers are delivered */
        triggers: (
          | 'agents'
          | 'apps'
          | 'audit'
          | 'comments'
          | 'files'
          | 'messages'
          | 'notifications'
          | 'polls'
          | 'posts'
          | 'reactions'
        )[]
        /** Signs the deliveries; never shown. null or empty: they are not signed */
        secret?: string | null
        /** Another name of is_enabled */
        enabled?: boolean
        /** Default: true */
        is_enabled?: boolean
        /** Further attempts where one fails, each after a longer wait; events of the same app wait for it. Default: 0. A webhook with retries that has failed for five days is disabled */
        retries?: number | string
      }
      answer: Webhook
    }
    /** List webhooks */
    get: {
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out'>
      answer: { data?: Webhook[]; start?: number; end?: number; count: number }
    }
  }
  '/api/webhooks/{id}': {
    /** Get a webhook, and how it fares */
    get: { path: { id: string | number }; answer: WebhookDetails }
    /** Change a webhook */
    patch: {
      path: { id: string | number }
      body?: {
        /** Where deliveries are posted to */
        payload_url?: string
        /** Only events of these triggers are delivered */
        triggers?: (
          | 'agents'
          | 'apps'
          | 'audit'
          | 'comments'
          | 'files'
          | 'messages'
          | 'notifications'
          | 'polls'
          | 'posts'
          | 'reactions'
        )[]
        /** Signs the deliveries; never shown. null or empty: they are not signed */
        secret?: string | null
        /** Another name of is_enabled */
        enabled?: boolean
        /** Default: true */
        is_enabled?: boolean
        /** Further attempts where one fails, each after a longer wait; events of the same app wait for it. Default: 0. A webhook with retries that has failed for five days is disabled */
        retries?: number | string
      }
      answer: Webhook
    }
    /** Delete a webhook and the records of its deliveries */
    delete: { path: { id: string | number }; answer: undefined }
  }
  '/api/webhooks/{id}/deliveries': {
    /** List the recent deliveries of a webhook that were attempted: first what is attempted again, then newest first */
    get: {
      path: { id: string | number }
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out'> & {
        /** Only this action */
        action?: string | number | undefined
        /** success, failure: what was attempted for the last time; queued: what waits for its first attempt, or for another one. Without it, all that was attempted */
        status?: 'success' | 'failure' | 'queued' | undefined
        /** Only of this event, the id in the payload */
        event?: string | number | undefined
        /** Attempted then or later */
        since?: string | number | undefined
        /** Attempted before then */
        until?: string | number | undefined
      }
      answer: { data?: DeliverySummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/webhooks/{id}/deliveries/{delivery}': {
    /** Get a delivery with its request and response */
    get: { path: { id: string | number; delivery: string | number }; answer: Delivery }
  }
  '/api/webhooks/{id}/deliveries/{delivery}/redeliver': {
    /** Send a delivery again, under a new guid */
    post: { path: { id: string | number; delivery: string | number }; answer: Delivery }
  }
  '/api/deliveries': {
    /** List the recent deliveries of all webhooks that were attempted: first what is attempted again, then newest first */
    get: {
      query?: Pick<Shared, 'q' | 'tag' | 'trashed' | 'order_by' | 'skip' | 'take' | 'count_only' | 'out'> & {
        /** Only this action */
        action?: string | number | undefined
        /** success, failure: what was attempted for the last time; queued: what waits for its first attempt, or for another one. Without it, all that was attempted */
        status?: 'success' | 'failure' | 'queued' | undefined
        /** Only of this event, the id in the payload */
        event?: string | number | undefined
        /** Attempted then or later */
        since?: string | number | undefined
        /** Attempted before then */
        until?: string | number | undefined
        /** Only of this webhook */
        webhook?: string | number | undefined
      }
      answer: { data?: DeliverySummary[]; start?: number; end?: number; count: number }
    }
  }
  '/api/webhooks/{id}/redeliver': {
    /** Send again what has failed, and has not been sent again since; 1,000 deliveries at most, oldest first */
    post: {
      path: { id: string | number }
      body: {
        /** What is to be sent again */
        status: 'failure'
        since?: string | null
        until?: string | null
      }
      answer: {
        /** Deliveries that were queued, 1,000 at most */
        count: number
      }
    }
  }
  '/api/webhooks/{id}/rotate': {
    /** Give a webhook a new secret, which is shown this once; the one before signs along for 24 hours */
    post: { path: { id: string | number }; answer: RotatedWebhook }
  }
  '/api/webhooks/{id}/test': {
    /** Send the action ping to a webhook, beside its queue, and wait for what comes of it */
    post: { path: { id: string | number }; answer: Delivery }
  }
  '/api/openapi.json': {
    /** Get this description of the API */
    get: {
      query?: {
        /** Integers of answers are described in this form alone; without it in both */
        scalars?: 'string' | 'number' | undefined
      }
      answer: Record<string, unknown>
    }
  }
}
