import { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { Int, pagedList, Timestamp } from '../../api/shape.ts'
import { Range, toPage, toPagedList } from '../../api/page.ts'

export const SignIn = z
  .object({
    id: Int,
    key: z.object({ id: Int, name: z.string() }),
    created_at: Timestamp,
    used_at: Timestamp.describe('When it was used last, to a minute'),
    expires_at: Timestamp,
    ip: z.string().optional().describe('Where it was begun from'),
    agent: z.string().optional().describe('What the browser calls itself'),
    is_current: z.boolean().describe('It is the session of this request'),
  })
  .meta({ id: 'SignIn' })

const list = route('GET /api/admin/sign-ins', {
  summary: 'List the sessions of the administration page that have not ended, newest first',
  auth: 'key',
  query: Range,
  replies: { 200: pagedList(SignIn) },
  async handle({ query, by }, { adminSessions }) {
    const page = toPage(query, ['id'], 'id desc')
    const { count, sessions } = await adminSessions.list(page)
    const shown = sessions.map(({ id, key_id, key_name, created_at, used_at, expires_at, ip, agent }) => {
      const key = { id: key_id, name: key_name }
      return { id, key, created_at, used_at, expires_at, ip, agent, is_current: id === by.session }
    })
    return reply(200, toPagedList(page, count, shown))
  },
})

const end = route('DELETE /api/admin/sign-ins/{id}', {
  summary: 'End a session of the administration page',
  auth: 'key',
  params: z.object({ id: z.string() }),
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, by }, { adminSessions }) {
    if (!(await adminSessions.end(toId(params.id), by))) throw NotFound()
    return reply(204)
  },
})

export const routes = [list, end]
