import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createMcpHandler, type ServerEventBus } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { Json } from '../api/json.ts'
import { Download } from '../http/answer/download.ts'
import { eventStreamType } from '../http/answer/event-stream.ts'
import type { InnerCalls } from '../http/inner-calls.ts'
import { reply, route, type Reply, type Route, type RouteRequest } from '../http/route.ts'
import { ClientCall, type ClientName } from './client-call.ts'
import { scope } from './oauth/routes.ts'
import { makeServer, type ServerParts } from './server.ts'
import { TooManyStreams, type Subscriptions } from './subscriptions.ts'

export interface McpParts extends ServerParts {
  calls: InnerCalls
  subscriptions: Subscriptions
  /** Who issues tokens of the host; null where that is not said: clients get theirs here. */
  issuer: string | null
}

const resourceMetadata = '/.well-known/oauth-protected-resource/mcp'

/** What the protocol's library reads. */
const headers = ['accept', 'mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id', 'user-agent']

/** Proxies, and uWebSockets.js, end an answer that is silent for ten seconds. */
const keepAliveMs = 4_000

/** For so long, a call with the same id, tool and arguments is the same one: clients count anew whenever they start. */
const repeatedMs = 300_000

const Message = z.looseObject({
  method: z.string().optional(),
  id: z.union([z.string(), z.number()]).nullish(),
  params: z.record(z.string(), z.unknown()).optional(),
})
type Message = z.output<typeof Message>

const Answer = z.looseObject({}).describe('JSON-RPC')

/** The Model Context Protocol over HTTP, and where its tokens come from. */
export function mcpRoutes(parts: McpParts): Route[] {
  const speak = route('POST /mcp', {
    summary:
      'Speak the Model Context Protocol: tools, resources and prompts of the workspace, as the user of the token',
    auth: 'token',
    makesCalls: true,
    takesGrants: true,
    resourceMetadata,
    headers,
    body: z.union([Message, z.array(Message).max(20)]).describe('JSON-RPC 2.0'),
    replies: { 200: Answer, 202: null, 400: Answer, 404: Answer, 405: Answer, 413: Answer, 415: Answer, 500: Answer },
    problems: [TooManyStreams],
    handle: async request => (await answer(request, parts)) as Reply<200>,
  })

  const describe = (endpoint: `GET ${string}`) =>
    route(endpoint, {
      summary: 'Say where tokens for /mcp come from (RFC 9728)',
      auth: 'none',
      takesAnyQuery: true,
      replies: { 200: z.looseObject({ resource: z.string() }) },
      handle: ({ origin }) =>
        reply(200, {
          resource: `${origin}/mcp`,
          authorization_servers: [parts.issuer ?? origin],
          ...(parts.issuer === null && { scopes_supported: [scope] }),
          bearer_methods_supported: ['header'],
          resource_name: 'Parley',
          resource_documentation: `${origin}/api/docs`,
        }),
    })

  return [speak, describe('GET /.well-known/oauth-protected-resource'), describe(`GET ${resourceMetadata}`)]
}

type Asked = RouteRequest<undefined, undefined, Message | Message[]>

async function answer(request: Asked, parts: McpParts): Promise<Reply> {
  const { by: caller, body, headers: read, origin, addressOf } = request
  const { kind, user, credential, signedBy, grant } = caller
  const by = { kind, user, credential, signedBy, grant }
  const [first = {}] = Array.isArray(body) ? body : [body]
  const client = nameOf(first, read['user-agent'] ?? '')
  const address = addressOf()
  const toCall = (id: string | number | null) =>
    new ClientCall({
      ...{ calls: parts.calls, by, origin, client, addressOf: () => address },
      id: id === null ? null : toCallId(id, read['mcp-session-id'] ?? '', client, body, parts.now()),
    })
  const stream =
    first.method === 'subscriptions/listen' ? await parts.subscriptions.open(toCall(null), urisOf(first)) : null
  const { fetch } = createMcpHandler(({ era }) => makeServer(parts, era === 'modern', toCall), {
    bus: stream?.bus ?? noEvents,
    keepAliveMs,
    onerror: error => parts.log.debug({ error }, 'A request of a client was not understood'),
  })
  const given = Object.entries(read).filter(([, value]) => value !== '')
  const asked = new Request(`${origin}/mcp`, {
    method: 'POST',
    headers: { ...Object.fromEntries(given), 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(stream && { signal: stream.signal }),
  })
  return toReply(await fetch(asked, { parsedBody: body }), stream?.end)
}

/** For requests that open no stream. */
const noEvents: ServerEventBus = { publish() {}, subscribe: () => () => {} }

/** `end` is called when the answer is over, or was none with events. */
async function toReply(response: Response, end = () => {}): Promise<Reply> {
  const { status } = response
  const type = response.headers.get('content-type') ?? ''
  if (!type.includes(eventStreamType)) {
    end()
    const text = await response.text()
    return text === '' ? reply(status) : reply(status, new Json(text))
  }
  const open = () => Readable.fromWeb(response.body! as Parameters<typeof Readable.fromWeb>[0]).once('close', end)
  const head = { 'Content-Type': eventStreamType, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' }
  return reply(status, new Download({ sizeBytes: null, etag: null, open }), head)
}

const Implementation = z.object({ name: z.string().max(200), version: z.string().max(100).nullish() })

/** The client by its own words; of the revision that says it once, by its User-Agent. */
function nameOf({ params = {} }: Message, userAgent: string): ClientName {
  const meta = params._meta as Record<string, unknown> | undefined
  const said = Implementation.safeParse(meta?.['io.modelcontextprotocol/clientInfo'] ?? params.clientInfo)
  if (said.success) return { name: said.data.name, version: said.data.version ?? null }
  return { name: userAgent.slice(0, 200) || 'unknown', version: null }
}

function urisOf({ params = {} }: Message): string[] {
  const wanted = z.object({ resourceSubscriptions: z.array(z.string()) }).safeParse(params.notifications)
  return wanted.success ? wanted.data.resourceSubscriptions : []
}

/**
 * Tells a call from others. Ids that are long are taken to be unique; numbers, with which each client begins anew, count
 * together with the session, the arguments and the time.
 */
function toCallId(id: string | number, session: string, client: ClientName, body: unknown, now: Date): string {
  if (typeof id === 'string' && id.length >= 16) return digest([id])
  const period = Math.floor(now.getTime() / repeatedMs)
  const { params } = Array.isArray(body) ? { params: body } : (body as Message)
  const asked = params !== undefined && 'name' in params ? { name: params.name, arguments: params.arguments } : params
  return digest([id, session, client.name, asked, session === '' ? period : 0])
}

function digest(parts: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)
}
