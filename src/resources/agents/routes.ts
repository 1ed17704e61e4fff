import { reply } from '../../http/route.ts'
import { route, type Served } from '../route.ts'
import { NotFound, requireFound } from '../../lib/errors.ts'
import { toPage, toPagedList } from '../../api/page.ts'
import { pictureBodyLimitBytes } from '../blobs/pictures/schema.ts'
import { withPicture } from '../blobs/pictures/picture.ts'
import { leaveApps } from '../apps/members/leave.ts'
import type { Saved } from '../users/commands.ts'
import { listPersons, type PersonOrder } from '../users/lists/pages.ts'
import { createAgent, deleteAgent, restoreAgent, trashAgent, updateAgent, upsertAgent } from './commands.ts'
import { Agent, AgentList, AgentListing, AgentPath, AgentQuery, AgentUidPath, AgentUpdate, NewAgent } from './schema.ts'
import { showAgent, showAgents } from './show.ts'
import { findAgent, listAgents } from './store.ts'

const orderFields: PersonOrder[] = ['id', 'name', 'created_at']

const create = route('POST /api/agents', {
  summary: 'Create an agent',
  description:
    'An agent is a user that answers by itself in agent chats, and where it is mentioned. `builtin` needs no ' +
    'model and no network.',
  auth: 'key',
  body: NewAgent,
  bodyLimitBytes: pictureBodyLimitBytes,
  creates: true,
  replies: { 201: Agent },
  async handle({ body, by, idempotencyKey }, context) {
    const given = await withPicture(body, context)
    const saved = await context.globalCommands.run(createAgent, by, given, idempotencyKey)
    return reply(201, await showSaved(saved, context))
  },
})

const get = route('GET /api/agents/{agent}', {
  summary: 'Get an agent',
  auth: 'key',
  params: AgentPath,
  query: AgentQuery,
  replies: { 200: Agent },
  problems: [NotFound],
  async handle({ params, query }, context) {
    const agent = requireFound(await findAgent(context.sql, params.agent))
    const showsTrashed = query.trashed !== undefined && query.trashed !== 'false'
    if (agent.person.trashed_at !== null && !showsTrashed) throw NotFound()
    return reply(200, await showAgent(agent, context))
  },
})

const update = route('PATCH /api/agents/{agent}', {
  summary: 'Update an agent; absent members stay, null clears',
  auth: 'key',
  params: AgentPath,
  body: AgentUpdate,
  bodyLimitBytes: pictureBodyLimitBytes,
  replies: { 200: Agent },
  problems: [NotFound],
  async handle({ params, body, by }, context) {
    const saved = await context.globalCommands.run(updateAgent, by, {
      agent: params.agent,
      given: await withPicture(body, context),
    })
    return reply(200, await showSaved(saved, context))
  },
})

const upsert = route('PUT /api/agents/{uid}', {
  summary: 'Update the agent with this uid, or create it',
  auth: 'key',
  params: AgentUidPath,
  body: AgentUpdate,
  bodyLimitBytes: pictureBodyLimitBytes,
  replies: { 200: Agent, 201: Agent },
  async handle({ params, body, by }, context) {
    const saved = await context.globalCommands.run(upsertAgent, by, {
      uid: params.uid,
      given: await withPicture(body, context),
    })
    const agent = await showSaved(saved, context)
    return saved.isNew ? reply(201, agent) : reply(200, agent)
  },
})

const list = route('GET /api/agents', {
  summary: 'List the agents that are visible to the caller',
  auth: 'token or key',
  query: AgentListing,
  replies: { 200: AgentList },
  async handle({ query, by }, context) {
    const { autocomplete, directory } = query
    const page = toPage(query, orderFields, 'name')
    const directories = directory ? [directory] : []
    const { count, persons } = await listPersons(context.sql, { by, agent: true, autocomplete, directories }, page)
    const agents = await listAgents(
      context.sql,
      persons.map(({ id }) => id),
    )
    return reply(200, toPagedList(page, count, await showAgents(agents, context)))
  },
})

const change = (verb: 'trash' | 'restore') =>
  route(`POST /api/agents/{agent}/${verb}`, {
    summary: verb === 'trash' ? 'Trash an agent: it is hidden, and answers nothing' : 'Restore a trashed agent',
    auth: 'key',
    params: AgentPath,
    replies: { 204: null },
    problems: [NotFound],
    async handle({ params, by }, { globalCommands }) {
      if (verb === 'trash') await globalCommands.run(trashAgent, by, params.agent)
      else await globalCommands.run(restoreAgent, by, params.agent)
      return reply(204)
    },
  })

const remove = route('DELETE /api/agents/{agent}', {
  summary: 'Delete an agent for good; what it wrote stays',
  auth: 'key',
  params: AgentPath,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, by }, context) {
    // Trashed first, as for users: it joins nothing while it leaves its apps.
    const agent = await context.globalCommands.run(trashAgent, by, params.agent)
    await leaveApps(agent, context)
    await context.globalCommands.run(deleteAgent, by, String(agent))
    return reply(204)
  },
})

type Request = Served<'sql' | 'by' | 'origin'>

/** The agent after a write, trashed or not. */
async function showSaved({ id }: Saved, request: Request) {
  const agent = requireFound(await findAgent(request.sql, String(id)))
  return showAgent(agent, request)
}

export const routes = [create, list, get, update, upsert, change('trash'), change('restore'), remove]
