import { NotFound } from '../../lib/errors.ts'
import { reply } from '../../http/route.ts'
import { route, type Served } from '../route.ts'
import { deleteUser, restoreUser, trashUser } from './commands.ts'
import { SpecialUser, UserPath } from './schema.ts'

const change = (verb: 'trash' | 'restore') =>
  route(`POST /api/users/{user}/${verb}`, {
    summary: verb === 'trash' ? 'Trash a user: out of sight, and its tokens are rejected' : 'Restore a trashed user',
    auth: 'key',
    params: UserPath,
    replies: { 204: null },
    problems: [NotFound, SpecialUser],
    async handle({ params, by }, { globalCommands }) {
      if (verb === 'trash') await globalCommands.run(trashUser, by, params.user)
      else await globalCommands.run(restoreUser, by, params.user)
      return reply(204)
    },
  })

/** Ends the memberships of a user who is about to be deleted. Apps come later in the order of resources. */
export type LeaveApps = (user: number, request: Served<'sql' | 'apps' | 'by'>) => Promise<void>

const remove = (leaveApps: LeaveApps) =>
  route('DELETE /api/users/{user}', {
    summary: 'Delete a user for good; what it wrote stays',
    auth: 'key',
    params: UserPath,
    replies: { 204: null },
    problems: [NotFound, SpecialUser],
    async handle({ params, by }, { sql, apps, globalCommands }) {
      // Trashed first, so that the user joins nothing while leaving; after a crash in between, the user can be deleted
      // again, and no membership lacks its user.
      const user = await globalCommands.run(trashUser, by, params.user)
      await leaveApps(user, { by, sql, apps })
      await globalCommands.run(deleteUser, by, String(user))
      return reply(204)
    },
  })

export const accountRoutes = (leaveApps: LeaveApps) => [change('trash'), change('restore'), remove(leaveApps)]
