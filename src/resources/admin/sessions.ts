import { z } from 'zod'
import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { audit } from '../../audit/audit.ts'
import { reply } from '../../http/route.ts'
import type { ClusterSessions } from '../../realtime/sessions/session-directory.ts'
import { route, type Served } from '../route.ts'
import { invalid, NotFound, requireFound } from '../../lib/errors.ts'
import { Int, pagedList, Timestamp } from '../../api/shape.ts'
import { Range, toPage, toPagedList } from '../../api/page.ts'
import { toAppId } from '../apps/find.ts'
import { findUserId } from '../users/store.ts'
import { findNames } from './session-names.ts'

/** How far the list can be paged: each node sends as many sessions to the asking one. Filters find the others. */
const deepest = 1_000

const SessionListing = Range.extend({
  user: z.string().optional().describe('Id or uid: only connections of this user'),
  app: z.string().optional().describe('Id or uid: only connections that are subscribed to this app'),
})

const Named = z.object({ id: Int, uid: z.string().optional(), name: z.string().optional() })

export const RealtimeSession = z
  .object({
    id: z.string(),
    node: z.uuid().describe('The node that it is connected to, see /api/admin/nodes'),
    kind: z.enum(['native', 'hub']).describe('What the client speaks: the protocols of /api/realtime, or SignalR'),
    user: Named.optional().describe('Absent before the client has said who it is'),
    since: Timestamp,
    ip: z.string().describe('The address of the client'),
    apps: z
      .array(Named.extend({ type: z.string() }))
      .optional()
      .describe('The first ten apps that it is subscribed to'),
    subscriptions: Int.describe('How many apps it is subscribed to'),
  })
  .meta({ id: 'RealtimeSession' })

export const RealtimeSessions = pagedList(RealtimeSession)
  .extend({
    silent_nodes: z
      .array(z.uuid())
      .optional()
      .describe('Nodes that run and did not answer, whose connections are missing: without Redis all others'),
  })
  .meta({ id: 'RealtimeSessions' })

const list = route('GET /api/admin/sessions', {
  summary: 'List the realtime connections of all nodes, newest first',
  auth: 'key',
  query: SessionListing,
  replies: { 200: RealtimeSessions },
  problems: [NotFound],
  async handle({ query }, context) {
    const page = toPage(query, ['id'], 'id')
    const end = page.skip + page.take
    if (end > deepest)
      throw invalid({ skip: [`must be at most ${deepest - page.take}: filter by user or app instead`] })
    const app = query.app === undefined ? undefined : await toAppId(query.app, context)
    const user = query.user === undefined ? undefined : requireFound(await findUserId(context.sql, query.user))
    const { sessions, count, silent } = await context.liveSessions.list({ app, user }, page.countOnly ? 0 : end)
    const shown = await show(sessions.slice(page.skip), context)
    return reply(200, { ...toPagedList(page, count, shown), silent_nodes: silent })
  },
})

const SessionPath = z.object({ id: z.string() })
const idForm = /^(?<node>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(?<number>\d{1,15})$/

const end = route('DELETE /api/admin/sessions/{id}', {
  summary: 'End a realtime connection, whichever node it is on: at once, without Redis within two seconds',
  auth: 'key',
  params: SessionPath,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, by }, { globalCommands, liveSessions }) {
    const named = idForm.exec(params.id)?.groups
    if (named === undefined) throw NotFound()
    const [node, number] = [named.node!, Number(named.number)]
    if (!(await liveSessions.mayHave(node, number))) throw NotFound()
    await globalCommands.run(endRealtimeSession, by, { node, number })
    return reply(204)
  },
})

export const sessionRoutes = [list, end]

/** Sent to all nodes through the shared log, so that it works without Redis too. */
const endRealtimeSession = globalCommand(
  'endRealtimeSession',
  async (work: GlobalWork, { node, number }: { node: string; number: number }): Promise<void> => {
    const target = { type: 'realtime_session', id: number, name: `${node}.${number}` }
    audit(work, { action: 'session_ended', target })
    work.changed('realtime_session_ended', 'realtime_session', number, { node })
  },
)

async function show(sessions: ClusterSessions['sessions'], { sql }: Served<'sql'>) {
  const users = sessions.flatMap(({ user }) => (user === null ? [] : [user]))
  const names = await findNames(sql, { users, apps: sessions.flatMap(({ apps }) => apps) })
  return sessions.map(({ node, number, kind, user, since, ip, apps, subscriptions }) => ({
    id: `${node}.${number}`,
    node,
    kind,
    user: user === null ? null : (names.users.get(user) ?? { id: user }),
    since: new Date(since),
    ip,
    apps: apps.flatMap(app => names.apps.get(app) ?? []),
    subscriptions,
  }))
}
