import { z } from 'zod'
import { auditAlone } from '../../../audit/audit.ts'
import { reply } from '../../../http/route.ts'
import { route, type Served } from '../../route.ts'
import { Forbidden, NotFound, problem, requireFound } from '../../../lib/errors.ts'
import { verbatim } from '../../../api/json.ts'
import { toId } from '../../../api/reference.ts'
import { Int, pagedList, Timestamp } from '../../../api/shape.ts'
import { Range, toPage, toPagedList } from '../../../api/page.ts'
import { openApp } from '../../apps/find.ts'
import { showNamed } from '../runs/represent.ts'
import { Named } from '../runs/schema.ts'
import { approvalStates, decide, findApproval, listApprovals, toExpiry, type ApprovalRow } from './store.ts'

export const Approval = z
  .object({
    id: Int,
    run: Int,
    server: z.string(),
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    state: z.enum(approvalStates),
    item: z.object({ type: z.string(), id: Int }).describe('The reply that asks'),
    app: z.object({ id: Int }),
    agent: Named,
    note: z.string().optional(),
    decided_by: Named.optional(),
    decided_at: Timestamp.optional(),
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'AgentApproval' })

const ApprovalPath = z.object({ id: z.string() })
const ApprovalListing = Range.extend({ state: z.enum(approvalStates).optional().describe('Default: pending') })
const Decision = z.object({ approved: z.boolean(), note: z.string().trim().max(1_000).nullish() })

const AlreadyDecided = problem(409, 'already-decided', 'Somebody has decided this before.')
const Lapsed = problem(409, 'lapsed', 'This was not decided in time.')

type Request = Served<'sql' | 'apps' | 'userCache' | 'by'>

const list = route('GET /api/approvals', {
  summary: 'List the calls that the caller is asked to approve; with an API key all',
  auth: 'token or key',
  query: ApprovalListing,
  replies: { 200: pagedList(Approval) },
  async handle({ query, by }, context) {
    const page = toPage(query, ['id'], 'id desc')
    const filter = { asker: by.kind === 'key' ? null : by.user, state: query.state ?? 'pending' }
    const { rows, count } = await listApprovals(context.sql, filter, page)
    return reply(200, toPagedList(page, count, await show(rows, context)))
  },
})

const get = route('GET /api/approvals/{id}', {
  summary: 'Get what is asked, with all of its arguments',
  auth: 'token or key',
  params: ApprovalPath,
  replies: { 200: Approval },
  problems: [NotFound],
  async handle({ params }, context) {
    const [shown] = await show([await requireApproval(params.id, context)], context)
    return reply(200, shown!)
  },
})

const answer = route('POST /api/approvals/{id}', {
  summary: 'Approve or decline a call: for the user who asked the agent, and for API keys',
  auth: 'token or key',
  params: ApprovalPath,
  body: Decision,
  replies: { 200: Approval },
  problems: [Forbidden, NotFound, AlreadyDecided, Lapsed],
  async handle({ params, body, by }, context) {
    const { id, asker_id } = await requireApproval(params.id, context)
    if (by.kind !== 'key' && asker_id !== by.user) throw Forbidden()
    const decision = { id, isApproved: body.approved, note: body.note ?? null, by: by.user }
    const after = { approved: body.approved }
    const isDecided = await context.sql.begin(async tx => {
      if (!(await decide(tx, decision))) return false
      if (by.kind === 'key')
        await auditAlone(tx, by, context.now(), { action: 'approval_decided', target: { type: 'approval', id }, after })
      return true
    })
    if (!isDecided) {
      const { state } = (await findApproval(context.sql, id)) ?? { state: 'lapsed' }
      throw state === 'pending' || state === 'lapsed' ? Lapsed() : AlreadyDecided()
    }
    await context.agents.settle()
    const [shown] = await show([await requireApproval(params.id, context)], context)
    return reply(200, shown!)
  },
})

/** The approval, for callers who can read its question; otherwise 404. */
async function requireApproval(id: string, request: Request): Promise<ApprovalRow> {
  const { sql, by } = request
  const approval = requireFound(await findApproval(sql, toId(id)))
  if (by.kind === 'key') return approval
  await openApp(approval.app_id, 'read', request)
  return approval
}

async function show(rows: readonly ApprovalRow[], { userCache }: Pick<Request, 'userCache'>): Promise<object[]> {
  await userCache.load(
    rows.flatMap(({ agent_id, decided_by }) => [agent_id, ...(decided_by === null ? [] : [decided_by])]),
  )
  return rows.map(row => ({
    id: row.id,
    run: row.run_id,
    server: row.server,
    tool: row.tool,
    arguments: verbatim(row.arguments),
    state: row.state,
    item: { type: row.item_type, id: row.item_id },
    app: { id: row.app_id },
    agent: showNamed(row.agent_id, userCache),
    note: row.note,
    decided_by: row.decided_by === null ? null : showNamed(row.decided_by, userCache),
    decided_at: row.decided_at,
    created_at: row.created_at,
    expires_at: toExpiry(row.created_at),
  }))
}

export const approvalRoutes = [list, get, answer]
