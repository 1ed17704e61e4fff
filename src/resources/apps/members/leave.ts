import type { Served } from '../../route.ts'
import { ignoreNotFound } from '../../../lib/errors.ts'
import { removeDeleted } from './commands.ts'
import { listMemberships } from './store.ts'

type Request = Served<'sql' | 'apps' | 'by'>

/**
 * Ends the memberships of a user who is about to be deleted, app by app. Private and agent chats keep their members:
 * the other one goes on seeing the chat, with the deleted user.
 */
export async function leaveApps(user: number, { sql, apps, by }: Request): Promise<void> {
  for (const app of await listMemberships(sql, user)) {
    // Removed by another user, or the app is gone: then there is nothing left to end.
    await apps.run(removeDeleted, app, by, user).catch(ignoreNotFound)
  }
}
