import { isAllowed } from '../../../agents/tools/mcp/server.ts'
import { verbatim } from '../../../api/json.ts'
import { reply } from '../../../http/route.ts'
import { route } from '../../route.ts'
import { NotFound, requireFound } from '../../../lib/errors.ts'
import { childRoutes, ChildPath } from '../children/routes.ts'
import { requireAgentId } from '../find.ts'
import { serverKind, serverStore } from './kind.ts'
import { OfferedTools, ToolServerFailed } from './schema.ts'

const listTools = route('GET /api/agents/{agent}/mcp/{name}/tools', {
  summary: 'List the tools that a tool server has now',
  auth: 'key',
  params: ChildPath,
  replies: { 200: OfferedTools },
  problems: [NotFound, ToolServerFailed],
  async handle({ params, by }, { sql, outboundQuota, toolServers, vault }) {
    const row = requireFound(await serverStore.find(sql, await requireAgentId(sql, params.agent), params.name))
    const server = serverStore.open(vault, row)
    const tools = await outboundQuota.run(by, () => toolServers.list(server))
    const shown = tools.map(({ name, title, description, inputSchema }) => {
      return { name, title, description, input_schema: verbatim(inputSchema), is_allowed: isAllowed(server, name) }
    })
    return reply(200, shown)
  },
})

export const serverRoutes = [...childRoutes(serverKind), listTools]
