import type { RecentItems } from '../actors/apps.ts'
import { agents } from './agents/index.ts'
import { apps } from './apps/index.ts'
import { auth } from './auth/index.ts'
import { directories } from './directories/index.ts'
import { isChat } from './apps/kinds.ts'
import { members } from './members/index.ts'
import { messages } from './messages/index.ts'
import { message } from './messages/kind.ts'
import type { Resource } from './resource.ts'
import { tokens } from './tokens/index.ts'
import { users } from './users/index.ts'
import { webhooks } from './webhooks/index.ts'

/** The table of contents: one line for each resource. */
export const resources: Resource[] = [agents, apps, auth, directories, members, messages, tokens, users, webhooks]

/** What each type of app keeps in memory of its content. */
export const recent: RecentItems = async (db, app, limit) =>
  isChat(app.type) ? await message.store.listRecent(db, app.id, limit) : []
