import type { z } from 'zod'
import type { AppState } from '../../../engine/state.ts'
import { listSteps } from '../../../agents/runs/steps.ts'
import { reply } from '../../../http/route.ts'
import { route, type Served } from '../../route.ts'
import { NotFound } from '../../../lib/errors.ts'
import { toId } from '../../../api/reference.ts'
import { toPage, toPagedList } from '../../../api/page.ts'
import { findStates, openApp } from '../../apps/find.ts'
import { namesakes } from '../../apps/naming.ts'
import { AppPath } from '../../apps/schema.ts'
import { requireAgentId } from '../find.ts'
import { AgentPath } from '../schema.ts'
import { findListed, listRuns, retryRun, sumUsage, type ListedRun, type RunFilter } from './list.ts'
import { showRun, showStep, toRunApp } from './represent.ts'
import {
  AgentProviders,
  AgentUsage,
  NotEnded,
  OpenRunListing,
  Run,
  RunCancel,
  RunDetails,
  RunListing,
  RunPath,
  Runs,
  UsageQuery,
} from './schema.ts'

type Request = Served<'sql' | 'apps' | 'userCache' | 'by'>

const listOfAgent = route('GET /api/agents/{agent}/runs', {
  summary: 'List what an agent did to answer',
  auth: 'key',
  isHeavy: true,
  params: AgentPath,
  query: RunListing,
  replies: { 200: Runs },
  problems: [NotFound],
  async handle({ params, query }, context) {
    const agent = await requireAgentId(context.sql, params.agent)
    return reply(200, await listPage({ ...toFilter(query), agent }, query, context))
  },
})

const list = route('GET /api/runs', {
  summary: 'List what agents did to answer',
  auth: 'key',
  isHeavy: true,
  query: RunListing,
  replies: { 200: Runs },
  async handle({ query }, context) {
    return reply(200, await listPage(toFilter(query), query, context))
  },
})

const listOfApp = route('GET /api/apps/{app}/runs', {
  summary: 'List what agents are doing in an app',
  auth: 'token or key',
  params: AppPath,
  query: OpenRunListing,
  replies: { 200: Runs },
  problems: [NotFound],
  async handle({ params, query }, context) {
    const { state } = await openApp(params.app, 'read', context)
    return reply(200, await listPage({ app: state.app.id, isOpen: true }, query, context, state))
  },
})

const get = route('GET /api/runs/{id}', {
  summary: 'Get a run of an agent',
  auth: 'token or key',
  params: RunPath,
  replies: { 200: RunDetails },
  problems: [NotFound],
  async handle({ params, by }, context) {
    const run = await requireRun(params.id, context)
    const [shown] = await show([run], context)
    if (by.kind !== 'key') return reply(200, shown!)
    const steps = await listSteps(context.sql, run.id)
    return reply(200, { ...shown!, steps: steps.map(showStep) })
  },
})

const cancel = route('POST /api/runs/{id}/cancel', {
  summary: 'End a run; nothing is posted, or with keep what was written so far',
  auth: 'token or key',
  params: RunPath,
  body: RunCancel,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, body }, context) {
    const run = await requireRun(params.id, context)
    await context.agents.cancel(run.id, body.keep ?? false)
    return reply(204)
  },
})

const retry = route('POST /api/runs/{id}/retry', {
  summary: 'Answer again what was not answered',
  auth: 'token or key',
  params: RunPath,
  replies: { 202: Run },
  problems: [NotFound, NotEnded],
  async handle({ params }, context) {
    const run = await requireRun(params.id, context)
    if (!(await retryRun(context.sql, run.id))) throw NotEnded()
    context.agents.wake()
    const [shown] = await show([(await findListed(context.sql, run.id)) ?? run], context)
    return reply(202, shown!)
  },
})

const usage = route('GET /api/agent-usage', {
  summary: 'What agents were used for, and what that took',
  auth: 'key',
  isHeavy: true,
  query: UsageQuery,
  replies: { 200: AgentUsage },
  async handle({ query }, { sql, now }) {
    const until = query.until ?? now()
    const since = query.since ?? new Date(until.getTime() - usageDays * 86_400_000)
    return reply(200, await sumUsage(sql, { since, until, by: query.by ?? 'day' }))
  },
})

/** As many days as runs are kept by default. */
const usageDays = 30

const listProviders = route('GET /api/agent-providers', {
  summary: 'List the providers of models, and whether they are configured',
  auth: 'key',
  replies: { 200: AgentProviders },
  handle: (_, { agents }) => reply(200, agents.providers()),
})

function toFilter({ state, app, user, error, since, until }: z.output<typeof RunListing>): RunFilter {
  return { state, app, asker: user, error, since, until }
}

/** `known`: where all runs are of one app, its state. */
async function listPage(
  filter: RunFilter,
  query: z.output<typeof OpenRunListing>,
  request: Request,
  known: AppState | null = null,
): Promise<object> {
  const page = toPage(query, ['id'], 'id desc')
  const { rows, count } = await listRuns(request.sql, filter, page)
  return toPagedList(page, count, await show(rows, request, known))
}

async function show(runs: readonly ListedRun[], request: Request, known: AppState | null = null): Promise<object[]> {
  const { userCache } = request
  const ids = runs.map(run => run.app_id)
  const states = await findStates(ids, request, known)
  const named = [...states.values()].flatMap(namesakes)
  await userCache.load([...named, ...runs.flatMap(run => [run.agent_id, run.asker_id])])
  const { by } = request
  return runs.map(run => {
    const state = states.get(run.app_id)
    const app = state === undefined ? null : toRunApp(run, state, by, userCache)
    return showRun(run, app, { isManaged: by.kind === 'key', userCache })
  })
}

/** The run, for its asker and for API keys; otherwise 404. */
async function requireRun(id: string, { sql, by }: Pick<Request, 'sql' | 'by'>): Promise<ListedRun> {
  const run = await findListed(sql, toId(id))
  if (run === null || (by.kind !== 'key' && run.asker_id !== by.user)) throw NotFound()
  return run
}

export const runRoutes = [list, listOfAgent, listOfApp, get, cancel, retry, usage, listProviders]
