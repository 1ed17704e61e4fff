import { reply, route } from '../../../http/route.ts'
import { NotFound } from '../../../lib/errors.ts'
import { requireAgentId } from '../find.ts'
import { showFunction } from '../represent.ts'
import { AgentPath } from '../schema.ts'
import { addFunction, putFunction, removeFunction, updateFunction } from './commands.ts'
import { AgentFunction, AgentFunctions, FunctionPath, FunctionUpdate, NewAgentFunction } from './schema.ts'
import { findFunction, listFunctions, openFunction } from './store.ts'

const add = route({
  method: 'POST',
  path: '/api/agents/{agent}/functions',
  summary: 'Add a function that an agent may call',
  auth: 'key',
  params: AgentPath,
  body: NewAgentFunction,
  creates: true,
  replies: { 201: AgentFunction },
  problems: [NotFound],
  async handle({ params, body, by, direct, once, vault }) {
    const row = await direct.run(addFunction, by, { agent: params.agent, given: body }, once)
    return reply(201, showFunction(openFunction(vault, row)))
  },
})

const get = route({
  method: 'GET',
  path: '/api/agents/{agent}/functions/{name}',
  summary: 'Get a function of an agent',
  auth: 'key',
  params: FunctionPath,
  replies: { 200: AgentFunction },
  problems: [NotFound],
  async handle({ params, sql, vault }) {
    const row = await findFunction(sql, await requireAgentId(sql, params.agent), params.name)
    if (row === null) throw NotFound()
    return reply(200, showFunction(openFunction(vault, row)))
  },
})

const update = route({
  method: 'PATCH',
  path: '/api/agents/{agent}/functions/{name}',
  summary: 'Update or rename a function of an agent',
  auth: 'key',
  params: FunctionPath,
  body: FunctionUpdate,
  replies: { 200: AgentFunction },
  problems: [NotFound],
  async handle({ params, body, by, direct, vault }) {
    const row = await direct.run(updateFunction, by, { ...params, given: body })
    return reply(200, showFunction(openFunction(vault, row)))
  },
})

const put = route({
  method: 'PUT',
  path: '/api/agents/{agent}/functions/{name}',
  summary: 'Add or update a function of an agent by name',
  auth: 'key',
  params: FunctionPath,
  body: NewAgentFunction,
  replies: { 200: AgentFunction, 201: AgentFunction },
  problems: [NotFound],
  async handle({ params, body, by, direct, vault }) {
    const { row, isNew } = await direct.run(putFunction, by, { ...params, given: body })
    const shown = showFunction(openFunction(vault, row))
    return isNew ? reply(201, shown) : reply(200, shown)
  },
})

const list = route({
  method: 'GET',
  path: '/api/agents/{agent}/functions',
  summary: 'List the functions of an agent',
  auth: 'key',
  params: AgentPath,
  replies: { 200: AgentFunctions },
  problems: [NotFound],
  async handle({ params, sql, vault }) {
    const rows = await listFunctions(sql, await requireAgentId(sql, params.agent))
    return reply(
      200,
      Array.from(rows, row => showFunction(openFunction(vault, row))),
    )
  },
})

const remove = route({
  method: 'DELETE',
  path: '/api/agents/{agent}/functions/{name}',
  summary: 'Remove a function of an agent',
  auth: 'key',
  params: FunctionPath,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, by, direct }) {
    await direct.run(removeFunction, by, params)
    return reply(204)
  },
})

export const functionRoutes = [add, get, update, put, list, remove]
