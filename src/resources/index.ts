import type { RecentItems } from '../engine/registry.ts'
import type { EventTypes } from '../engine/catch-up.ts'
import { admin } from './admin/index.ts'
import { agents } from './agents/index.ts'
import { clearDirectory } from './apps/commands.ts'
import { apps } from './apps/index.ts'
import { leaveApps } from './apps/members/leave.ts'
import { audit } from './audit/index.ts'
import { auth } from './auth/index.ts'
import { blobs } from './blobs/index.ts'
import { comments } from './comments/index.ts'
import { comment } from './comments/kind.ts'
import { isInSight } from './content/blob-use.ts'
import { removeContentOf } from './items/removal/remove.ts'
import { directories } from './directories/index.ts'
import { embeds } from './embeds/index.ts'
import { follows } from './users/follows/index.ts'
import { files } from './files/index.ts'
import { hubs } from './hubs/index.ts'
import { keys } from './keys/index.ts'
import { meetings } from './meetings/index.ts'
import { members } from './apps/members/index.ts'
import { messages } from './messages/index.ts'
import { messagesOfApps } from './messages/last.ts'
import { message } from './messages/kind.ts'
import { notifications } from './notifications/index.ts'
import { options } from './options/index.ts'
import { posts } from './posts/index.ts'
import { post } from './posts/kind.ts'
import { reactions } from './reactions/index.ts'
import type { Resource } from './resource.ts'
import { search } from './search/index.ts'
import { signIns } from './sign-ins/index.ts'
import { stars } from './stars/index.ts'
import { tokens } from './tokens/index.ts'
import { users } from './users/index.ts'
import { webhooks } from './webhooks/index.ts'

/** The table of contents: one line for each resource. */
export const resources: Resource[] = [
  admin,
  agents,
  apps({ messages: messagesOfApps, removeContent: removeContentOf }),
  audit,
  auth,
  blobs(isInSight),
  comments,
  directories(clearDirectory),
  embeds,
  follows,
  files,
  hubs,
  keys,
  meetings,
  members,
  messages,
  notifications,
  options,
  posts,
  reactions,
  search,
  signIns,
  stars,
  tokens,
  users(leaveApps),
  webhooks,
]

/** The events of all apps, by name. */
export const eventTypes: EventTypes = new Map(
  resources.flatMap(({ events = [] }) => events.map(event => [event.type, event])),
)

/** What each type of app keeps in memory of its content. */
export const recent: RecentItems = async (db, app, limit) => {
  const kind = [message, post, comment].find(({ fits }) => fits(app.type))
  return kind === undefined ? [] : await kind.store.listRecent(db, app.id, limit)
}
