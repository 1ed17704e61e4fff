import type { Content, StoredFile } from '../store/fold.ts'
import type { Row } from '../store/project.ts'
import type { Readable, Snapshot } from '../store/collection.ts'
import type { ListedApp } from '../collections/personal/apps.ts'
import type { UnreadSummary } from '../collections/personal/unread-apps.ts'
import type { Unread } from '../collections/unread.ts'
import type { Work } from '../collections/work.ts'
import type { ActorRef, Member } from '../connection/event-members.ts'
import type { ConnectionStatus } from '../connection/connection.ts'
import type { Notification } from '../http/paths.ts'
import type { Parley } from '../parley.ts'

/** What a collection shows. What is left out is as in one that is live and complete. */
type Shown<Data> = Partial<Snapshot<Data>>

/** What one app shows. */
export interface StillApp {
  messages?: Shown<readonly Row<Content>[]>
  posts?: Shown<readonly Row<Content>[]>
  comments?: Shown<readonly Row<Content>[]>
  files?: Shown<readonly Row<StoredFile>[]>
  members?: Shown<readonly Member[]>
  typing?: Shown<readonly ActorRef[]>
  work?: Shown<readonly Work[]>
  unread?: Shown<Unread>
}

export interface Still {
  connection?: ConnectionStatus
  apps?: Shown<readonly ListedApp[]>
  unread?: Shown<UnreadSummary>
  notifications?: Shown<readonly Notification[]>
  /** Who is there. */
  presence?: Shown<ReadonlySet<number>>
  /** What every app shows, whatever its id. */
  app?: StillApp
  /** The share of a file at which its upload stays; default: 1, it is uploaded. */
  uploaded?: number
}

/**
 * A client that stands still: it shows what it is given, connects to nothing, and whatever is asked of it succeeds without
 * effect. For stories and tests of components in states that a server would have to be brought into.
 */
export function createStillParley(given: Still): Parley {
  const { connection, apps, unread, notifications, presence, app = {}, uploaded = 1 } = given
  const shown = {
    messages: withActions(app.messages),
    posts: withActions(app.posts),
    files: withActions(app.files),
    members: readable(app.members?.data ?? [], app.members),
    typing: readable<readonly ActorRef[]>([], app.typing),
    work: readable<readonly Work[]>([], app.work),
    unread: {
      ...readable<Unread>({ is_unread: false, last_id: undefined, marked_id: undefined }, app.unread),
      ...marks,
    },
  }
  const comments = withActions(app.comments)
  const status = connection ?? { state: 'connected', user: 1 }
  const still = {
    http: { get: async () => ({}), post: async () => ({}) },
    connection: { get: () => status, subscribe: () => () => {} },
    apps: withActions(apps),
    unread: readable<UnreadSummary>({ count: 0, apps: [] }, unread),
    notifications: { ...readable<readonly Notification[]>([], notifications), ...marks },
    presence: readable<ReadonlySet<number>>(new Set(), presence),
    app: () => ({ ...shown, comments: () => comments, follow: () => () => {}, type: nothing }),
    upload: (_: unknown, { onProgress }: { onProgress?: (share: number) => void } = {}) => {
      onProgress?.(uploaded)
      return uploaded === 1 ? Promise.resolve({ id: 1 }) : new Promise(() => {})
    },
  }
  // It has what components use.
  return still as unknown as Parley
}

const nothing = async () => {}
const marks = { mark: nothing, unmark: nothing, markAll: nothing }
const actions = { send: nothing, edit: nothing, trash: nothing, react: nothing, vote: nothing, pin: nothing }

function withActions<Item>(given: Shown<readonly Item[]> | undefined) {
  return { ...readable<readonly Item[]>([], given), ...actions }
}

function readable<Data>(data: Data, given: Shown<Data> = {}): Readable<Snapshot<Data>> {
  const snapshot: Snapshot<Data> = {
    data,
    status: 'live',
    reason: undefined,
    error: undefined,
    hasMore: false,
    isLoadingMore: false,
    loadMore: nothing,
    rev: undefined,
    ...given,
  }
  return { get: () => snapshot, subscribe: () => () => {} }
}
