import type { Served } from '../../route.ts'
import { Problem } from '../../../lib/errors.ts'
import { removeDeleted } from './commands.ts'
import { listMemberships } from './store.ts'

type Request = Served<'sql' | 'apps' | 'by'>

/**
 * Ends the memberships of a user who is about to be deleted, app by app. Private and agent chats keep their members:
 * the other one goes on seeing the chat, with the deleted user.
 */
export async function leaveApps(user: number, { sql, apps, by }: Request): Promise<void> {
  for (const app of await listMemberships(sql, user)) {
    try {
      await apps.run(removeDeleted, app, by, user)
    } catch (error) {
      // Removed by another user, or the app is gone: there is nothing left to end.
      if (!(error instanceof Problem) || error.status !== 404) throw error
    }
  }
}
