import { reply, route } from '../../../http/route.ts'
import { NotFound } from '../../../lib/errors.ts'
import { requireAgentId } from '../find.ts'
import { showServer, showTool } from '../represent.ts'
import { AgentPath } from '../schema.ts'
import { addServer, putServer, removeServer, updateServer } from './commands.ts'
import {
  OfferedTools,
  ToolServerFailed,
  ToolServer,
  ToolServers,
  ToolServerPath,
  ToolServerUpdate,
  NewToolServer,
} from './schema.ts'
import { findServer, listServers, openServer } from './store.ts'

const add = route({
  method: 'POST',
  path: '/api/agents/{agent}/mcp',
  summary: 'Add a tool server (MCP) that an agent may use',
  auth: 'key',
  params: AgentPath,
  body: NewToolServer,
  creates: true,
  replies: { 201: ToolServer },
  problems: [NotFound],
  async handle({ params, body, by, direct, once, vault }) {
    const row = await direct.run(addServer, by, { agent: params.agent, given: body }, once)
    return reply(201, showServer(openServer(vault, row)))
  },
})

const get = route({
  method: 'GET',
  path: '/api/agents/{agent}/mcp/{name}',
  summary: 'Get a tool server of an agent',
  auth: 'key',
  params: ToolServerPath,
  replies: { 200: ToolServer },
  problems: [NotFound],
  async handle({ params, sql, vault }) {
    const row = await findServer(sql, await requireAgentId(sql, params.agent), params.name)
    if (row === null) throw NotFound()
    return reply(200, showServer(openServer(vault, row)))
  },
})

const update = route({
  method: 'PATCH',
  path: '/api/agents/{agent}/mcp/{name}',
  summary: 'Update or rename a tool server of an agent',
  auth: 'key',
  params: ToolServerPath,
  body: ToolServerUpdate,
  replies: { 200: ToolServer },
  problems: [NotFound],
  async handle({ params, body, by, direct, vault }) {
    const row = await direct.run(updateServer, by, { ...params, given: body })
    return reply(200, showServer(openServer(vault, row)))
  },
})

const put = route({
  method: 'PUT',
  path: '/api/agents/{agent}/mcp/{name}',
  summary: 'Add or update a tool server of an agent by name',
  auth: 'key',
  params: ToolServerPath,
  body: NewToolServer,
  replies: { 200: ToolServer, 201: ToolServer },
  problems: [NotFound],
  async handle({ params, body, by, direct, vault }) {
    const { row, isNew } = await direct.run(putServer, by, { ...params, given: body })
    const shown = showServer(openServer(vault, row))
    return isNew ? reply(201, shown) : reply(200, shown)
  },
})

const list = route({
  method: 'GET',
  path: '/api/agents/{agent}/mcp',
  summary: 'List the tool servers of an agent',
  auth: 'key',
  params: AgentPath,
  replies: { 200: ToolServers },
  problems: [NotFound],
  async handle({ params, sql, vault }) {
    const rows = await listServers(sql, await requireAgentId(sql, params.agent))
    return reply(
      200,
      Array.from(rows, row => showServer(openServer(vault, row))),
    )
  },
})

const listTools = route({
  method: 'GET',
  path: '/api/agents/{agent}/mcp/{name}/tools',
  summary: 'List the tools that a tool server has now',
  auth: 'key',
  params: ToolServerPath,
  replies: { 200: OfferedTools },
  problems: [NotFound, ToolServerFailed],
  async handle({ params, sql, by, vault, errands, toolServers }) {
    const row = await findServer(sql, await requireAgentId(sql, params.agent), params.name)
    if (row === null) throw NotFound()
    const server = openServer(vault, row)
    const tools = await errands.run(by, () => toolServers.list(server))
    return reply(
      200,
      tools.map(tool => showTool(tool, server)),
    )
  },
})

const remove = route({
  method: 'DELETE',
  path: '/api/agents/{agent}/mcp/{name}',
  summary: 'Remove a tool server of an agent',
  auth: 'key',
  params: ToolServerPath,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, by, direct }) {
    await direct.run(removeServer, by, params)
    return reply(204)
  },
})

export const serverRoutes = [add, get, update, put, list, listTools, remove]
