import type { Egress } from '../../egress/egress.ts'
import type { Log } from '../../lib/log.ts'
import type { FunctionDefinition } from './functions/function.ts'
import { toFunctionTool, type FunctionParts } from './functions/function-tool.ts'
import { listMs, ToolServerConnection, type ConnectionParts } from './mcp/connection.ts'
import { failureOf } from './mcp/failure.ts'
import type { Listing } from './mcp/listing.ts'
import { toMcpTool } from './mcp/mcp-tool.ts'
import { isAllowed, type ToolServerDefinition } from './mcp/server.ts'
import type { BoundTool, Toolbox, ToolboxRequest } from './tool.ts'

/** The most tools in one request to a model: the vendors' limit. */
const toolLimit = 128

/** The most skipped tools of a server that a line of the log names. */
const shownSkipped = 10

export interface ToolboxParts extends Omit<FunctionParts, 'egress'>, Omit<ConnectionParts, 'egress'> {
  egress: Pick<Egress, 'open'>
  log: Log
}

export interface ConfiguredTools {
  functions: readonly FunctionDefinition[]
  servers: readonly ToolServerDefinition[]
  /** This server's own tools, which come first. */
  own: readonly BoundTool[]
}

/** Opens the tools of an agent's configuration. A server that cannot be reached within 10 s is skipped. */
export async function openToolbox(
  { functions, servers, own }: ConfiguredTools,
  request: ToolboxRequest,
  parts: ToolboxParts,
  signal: AbortSignal,
): Promise<Toolbox> {
  const { log } = parts
  const agent = request.agent.id
  const opened = await Promise.all(
    servers.map(async server => {
      const connection = new ToolServerConnection(server, parts)
      return { server, connection, listing: await list(server, connection, { agent, log, signal }) }
    }),
  )
  const close = async () => void (await Promise.all(opened.map(({ connection }) => connection.close())))
  if (signal.aborted) {
    await close()
    signal.throwIfAborted()
  }
  const ofServers = opened.flatMap(({ server, connection, listing }) => {
    const allowed = listing?.tools.filter(({ name }) => isAllowed(server, name)) ?? []
    return allowed.map(listed => toMcpTool({ server, connection, listed }))
  })
  const offered = [...own, ...functions.map(definition => toFunctionTool(definition, request, parts)), ...ofServers]
  return {
    tools: choose(offered, name =>
      log.warn({ agent, tool: name }, 'Two tools have one name; the later one is left out'),
    ),
    unavailable: opened.filter(({ listing }) => listing === null).map(({ server }) => server.name),
    close,
  }
}

/** Null where the server cannot be reached. */
async function list(
  { name }: ToolServerDefinition,
  connection: ToolServerConnection,
  { agent, log, signal }: { agent: number; log: Log; signal: AbortSignal },
): Promise<Listing | null> {
  const deadline = AbortSignal.timeout(listMs)
  try {
    const listing = await connection.list(AbortSignal.any([signal, deadline]))
    const { skipped } = listing
    if (skipped.length > 0) {
      const facts = { agent, server: name, skipped: skipped.slice(0, shownSkipped), count: skipped.length }
      log.warn(facts, 'Some tools of a server cannot be offered')
    }
    return listing
  } catch (error) {
    const reason = deadline.aborted ? 'It did not answer in time.' : failureOf(error)
    if (!signal.aborted) log.warn({ agent, server: name, reason }, 'A tool server cannot be used')
    return null
  }
}

/** The first tools, as many as a model takes, each name once. */
function choose(offered: readonly BoundTool[], onDuplicate: (name: string) => void): BoundTool[] {
  const chosen = new Map<string, BoundTool>()
  for (const tool of offered) {
    if (chosen.size === toolLimit) break
    if (chosen.has(tool.name)) onDuplicate(tool.name)
    else chosen.set(tool.name, tool)
  }
  return [...chosen.values()]
}
