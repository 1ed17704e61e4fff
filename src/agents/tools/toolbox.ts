import type { Egress } from '../../egress/egress.ts'
import type { Log } from '../../lib/log.ts'
import { noParameters, type FunctionDefinition } from './functions/function.ts'
import { toFunctionTool, type FunctionParts } from './functions/function-tool.ts'
import { listMs, ToolServerConnection, type ConnectionParts } from './mcp/connection.ts'
import { failureOf } from './mcp/failure.ts'
import type { Listing } from './mcp/listing.ts'
import { toMcpTool } from './mcp/mcp-tool.ts'
import { toModelName } from './mcp/names.ts'
import { isAllowed, type ToolServerDefinition } from './mcp/server.ts'
import type { BoundTool, Tool, Toolbox, ToolboxRequest } from './tool.ts'

/** The most tools in one request to a model: the vendors' limit. */
const toolLimit = 128

export interface ToolboxParts extends Omit<FunctionParts, 'egress'>, Omit<ConnectionParts, 'egress'> {
  egress: Pick<Egress, 'send' | 'open'>
  log: Log
}

export interface ConfiguredTools {
  functions: readonly FunctionDefinition[]
  servers: readonly ToolServerDefinition[]
  /** This server's own tools, which come first. */
  own: readonly { tool: Tool; bound: BoundTool }[]
}

/** Opens the tools of an agent's configuration. A server that cannot be reached within 10 s is skipped. */
export async function openToolbox(
  { functions, servers, own }: ConfiguredTools,
  request: ToolboxRequest,
  parts: ToolboxParts,
  signal: AbortSignal,
): Promise<Toolbox> {
  const connections = servers.map(server => ({ server, connection: new ToolServerConnection(server, parts) }))
  const closing = async () => void (await Promise.all(connections.map(({ connection }) => connection.close())))
  const contents = new Contents(parts.log, request.agent.id)
  for (const { tool, bound } of own) contents.add(tool, bound)
  for (const definition of functions) contents.add(toTool(definition), toFunctionTool(definition, request, parts))

  const lists = await Promise.all(
    connections.map(({ server, connection }) => list(server, connection, { request, log: parts.log, signal })),
  )
  if (signal.aborted) {
    await closing()
    signal.throwIfAborted()
  }
  for (const [index, { server, connection }] of connections.entries()) {
    for (const { listed, definition } of lists[index]?.tools ?? []) {
      if (!isAllowed(server, listed.name)) continue
      const { description, inputSchema: parameters } = listed
      const tool = { name: toModelName(server.name, listed.name), description, parameters }
      contents.add(tool, toMcpTool({ server, connection, listed, definition }))
    }
  }
  return {
    tools: contents.tools,
    unavailable: servers.filter((_, index) => lists[index] === null).map(({ name }) => name),
    find: name => contents.find(name),
    close: closing,
  }
}

const toTool = ({ name, description, parameters }: FunctionDefinition): Tool => ({
  name,
  description,
  parameters: parameters ?? noParameters,
})

/** Null where the server cannot be reached. */
async function list(
  { name }: ToolServerDefinition,
  connection: ToolServerConnection,
  { request, log, signal }: { request: ToolboxRequest; log: Log; signal: AbortSignal },
): Promise<Listing | null> {
  const deadline = AbortSignal.timeout(listMs)
  try {
    return await connection.list(AbortSignal.any([signal, deadline]))
  } catch (error) {
    const reason = deadline.aborted ? 'It did not answer in time.' : failureOf(error)
    if (!signal.aborted) log.warn({ agent: request.agent.id, server: name, reason }, 'A tool server cannot be used')
    return null
  }
}

/** Collects tools by their names for the model, each once. */
class Contents {
  readonly tools: Tool[] = []
  readonly #bound = new Map<string, BoundTool>()
  readonly #log: Log
  readonly #agent: number

  constructor(log: Log, agent: number) {
    this.#log = log
    this.#agent = agent
  }

  add(tool: Tool, bound: BoundTool): void {
    if (this.tools.length >= toolLimit) return
    if (this.#bound.has(tool.name)) {
      this.#log.warn({ agent: this.#agent, tool: tool.name }, 'Two tools have one name; the later one is left out')
      return
    }
    this.tools.push(tool)
    this.#bound.set(tool.name, bound)
  }

  find(name: string): BoundTool | undefined {
    return this.#bound.get(name)
  }
}
