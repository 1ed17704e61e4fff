import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createMcpHandler, fromJsonSchema, McpServer, type CallToolResult } from '@modelcontextprotocol/server'

/** A request as it arrived; the body of a POST is JSON. */
export interface ToolRequest {
  httpMethod: string
  headers: Record<string, string>
  method: string | undefined
  params: Record<string, unknown>
  id: unknown
}

export type ToolHandler = (request: ToolRequest, response: ServerResponse, body: Buffer) => void | Promise<void>

/** A tool server on a free port that remembers every request. */
export class ToolServer implements AsyncDisposable {
  readonly requests: ToolRequest[] = []
  handler: ToolHandler
  readonly #server = createServer((request, response) => void this.#receive(request, response))

  constructor(handler: ToolHandler) {
    this.handler = handler
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`
  }

  /** The JSON-RPC methods that were called so far. */
  get methods(): (string | undefined)[] {
    return this.requests.map(({ httpMethod, method }) => method ?? httpMethod)
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const said = body.length > 0 ? (JSON.parse(body.toString()) as Partial<ToolRequest>) : {}
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const { method, params = {}, id } = said
    const received = { httpMethod: request.method ?? '', headers, method, params, id }
    this.requests.push(received)
    await this.handler(received, response, body)
  }
}

export async function startToolServer(handler: ToolHandler): Promise<ToolServer> {
  const server = new ToolServer(handler)
  await server.listen()
  return server
}

interface Described {
  description: string
  /** Of its arguments; none by default. */
  schema?: object
  annotations?: object
  answer: (args: never) => object
}

/** Tools by name, as the official library serves them by the protocol of 2026-07-28 and, one request at a time, older ones. */
export function serveTools(
  tools: Record<string, Described>,
  responseMode: 'auto' | 'sse' = 'auto',
): Promise<ToolServer> {
  const { fetch } = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'test', version: '1.0.0' })
      for (const [name, { answer, schema, ...described }] of Object.entries(tools)) {
        const inputSchema = fromJsonSchema<never>(schema ?? noArguments)
        server.registerTool(name, { ...described, inputSchema }, async args => answer(args) as CallToolResult)
      }
      return server
    },
    { responseMode },
  )
  return startToolServer(async ({ httpMethod, headers }, response, body) => {
    const request = new Request('http://127.0.0.1/mcp', {
      method: httpMethod,
      headers,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    })
    const answer = await fetch(request)
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
}

interface LegacyTool {
  name: string
  description?: string
  inputSchema: object
  annotations?: object
}

export const noArguments = { type: 'object', properties: {} }

/** A server of 2025-06-18 that keeps sessions and knows nothing newer. `call` makes the result of a call. */
export function serveLegacyTools(
  tools: LegacyTool[],
  call: (params: Record<string, unknown>) => object,
): Promise<ToolServer> {
  const sessions = new Set<string>()
  return startToolServer(({ httpMethod, headers, method, params, id }, response) => {
    const session = headers['mcp-session-id']
    if (httpMethod === 'DELETE') {
      sessions.delete(session ?? '')
      return void response.writeHead(204).end()
    }
    if (httpMethod !== 'POST') return void response.writeHead(405).end()
    if (method === 'initialize') {
      const made = `session-${sessions.size + 1}`
      sessions.add(made)
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'legacy', version: '1' },
      }
      response.setHeader('mcp-session-id', made)
      return answerJson(response, id, result)
    }
    if (!sessions.has(session ?? '')) return void response.writeHead(400).end('No session')
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/list') return answerJson(response, id, { tools })
    if (method === 'tools/call') return answerEvents(response, id, call(params))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Unknown method' } }))
  })
}

/** A server of 2024-11-05: messages go to an address that a stream names, and answers come on the stream. */
export function serveOldTools(
  tools: LegacyTool[],
  call: (params: Record<string, unknown>) => object,
): Promise<ToolServer> {
  let stream: ServerResponse | null = null
  const say = (event: string, data: string) => stream?.write(`event: ${event}\ndata: ${data}\n\n`)
  return startToolServer(({ httpMethod, headers, method, params, id }, response) => {
    if (httpMethod === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      stream = response
      say('endpoint', '/messages')
      return
    }
    // Only the place that the stream named takes messages, and there is no telling one from the other by these requests.
    if (stream === null || headers.accept?.includes('event-stream')) return void response.writeHead(405).end()
    response.writeHead(202).end()
    if (id === undefined) return
    const result =
      method === 'initialize'
        ? { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } }
        : method === 'tools/list'
          ? { tools }
          : call(params)
    say('message', JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
}

export function answerJson(response: ServerResponse, id: unknown, result: object): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

function answerEvents(response: ServerResponse, id: unknown, result: object): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
}
