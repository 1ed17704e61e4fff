import { z } from 'zod'
import { toId } from '../../../api/reference.ts'
import { Int, pagedList, Timestamp } from '../../../api/shape.ts'
import { Range, toPage, toPagedList } from '../../../api/page.ts'
import { reply } from '../../../http/route.ts'
import { NotFound, requireFound } from '../../../lib/errors.ts'
import { route } from '../../route.ts'
import { findUserId } from '../../users/store.ts'
import { endGrant } from './commands.ts'
import { countGrants, listGrants } from './store.ts'

export const Grant = z
  .object({
    id: Int,
    user: z.object({ id: Int, uid: z.string().optional(), name: z.string() }).describe('In whose name the client acts'),
    client: z.string().describe('What the client calls itself'),
    redirect_uri: z.string().describe('Where the client had the answer sent: of it, only this is checked'),
    created_at: Timestamp,
    used_at: Timestamp.describe('When it last wrote, or renewed its token: to an hour'),
    expires_at: Timestamp.describe('When it ends if it is not used'),
    writes: Int.describe('Calls of tools that write'),
  })
  .meta({ id: 'Grant' })

const list = route('GET /api/admin/grants', {
  summary: 'List the clients that users let act in their names through /mcp, newest first',
  auth: 'key',
  query: Range.extend({ user: z.string().optional().describe('Id or uid: only clients of this user') }),
  replies: { 200: pagedList(Grant) },
  problems: [NotFound],
  async handle({ query }, { sql, now }) {
    const page = toPage(query, ['id'], 'id desc')
    const user = query.user === undefined ? undefined : requireFound(await findUserId(sql, query.user))
    const filter = { user, now: now() }
    const [count, grants] = [await countGrants(sql, filter), page.countOnly ? [] : await listGrants(sql, filter, page)]
    return reply(200, toPagedList(page, count, grants))
  },
})

const end = route('DELETE /api/admin/grants/{id}', {
  summary: 'End what a user has allowed a client',
  description: 'Its tokens end at once, also in open streams. The user may allow it again.',
  auth: 'key',
  params: z.object({ id: z.string() }),
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, by }, { globalCommands }) {
    await globalCommands.run(endGrant, by, toId(params.id))
    return reply(204)
  },
})

export const grantRoutes = [list, end]
