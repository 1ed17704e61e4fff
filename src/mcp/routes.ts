import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { createMcpHandler, type ServerEventBus } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { Json } from '../api/json.ts'
import { Download } from '../http/answer/download.ts'
import { eventStreamType, replyWithEvents } from '../http/answer/event-stream.ts'
import type { InnerCalls } from '../http/inner-calls.ts'
import { reply, route, type Reply, type Route, type RouteRequest } from '../http/route.ts'
import { problem } from '../lib/errors.ts'
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

/** What an id of a session looks like. Clients send back what they were given. */
const sessionForm = /^[\w-]{1,64}$/

export const NoSession = problem(
  405,
  'no-session',
  'A stream of events needs Accept: text/event-stream and the Mcp-Session-Id that initialize has answered with.',
  { allow: 'POST, DELETE, OPTIONS' },
)

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
  const session = { auth: 'token', takesGrants: true, makesCalls: true, resourceMetadata, headers } as const

  const speak = route('POST /mcp', {
    summary:
      'Speak the Model Context Protocol: tools, resources and prompts of the workspace, as the user of the token',
    ...session,
    body: z.union([Message, z.array(Message).max(20)]).describe('JSON-RPC 2.0'),
    replies: { 200: Answer, 202: null, 400: Answer, 404: Answer, 405: Answer, 413: Answer, 415: Answer, 500: Answer },
    problems: [TooManyStreams],
    handle: async request => (await answer(request, parts)) as Reply<200>,
  })

  const listen = route('GET /mcp', {
    ...session,
    summary: 'Hear what changes in the resources of a session; of the revisions of 2025',
    replies: { 200: z.string().describe('A stream of events') },
    problems: [NoSession, TooManyStreams],
    handle(request) {
      const { call, id } = sessionOf(request, parts)
      if (id === '' || !request.headers.accept?.includes(eventStreamType)) throw NoSession()
      parts.subscriptions.requireRoom(call.by)
      return replyWithEvents(request.representation, async (send, gone) => {
        const tell = (uri: string) =>
          send('message', { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } })
        const { signal, end } = parts.subscriptions.openSession(call, id, tell)
        gone.addEventListener('abort', end)
        await once(signal, 'abort')
      })
    },
  })

  const leave = route('DELETE /mcp', {
    ...session,
    summary: 'End a session; of the revisions of 2025',
    replies: { 204: null },
    async handle(request) {
      const { call, id } = sessionOf(request, parts)
      await parts.subscriptions.endSession(call, id)
      return reply(204)
    },
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

  return [
    speak,
    listen,
    leave,
    describe('GET /.well-known/oauth-protected-resource'),
    describe(`GET ${resourceMetadata}`),
  ]
}

type Asked<Body> = Pick<RouteRequest<undefined, undefined, Body>, 'by' | 'headers' | 'origin' | 'addressOf'>

/** A request's session, empty without one, and calls of its user that no retry is told by. */
function sessionOf({ by: caller, headers: read, origin, addressOf }: Asked<unknown>, { calls }: McpParts) {
  const { kind, user, credential, signedBy, grant } = caller
  const by = { kind, user, credential, signedBy, grant }
  const address = addressOf()
  const client = { name: read['user-agent']?.slice(0, 200) || 'unknown', version: null }
  const options = { calls, by, origin, client, addressOf: () => address }
  const given = read['mcp-session-id'] ?? ''
  return { call: new ClientCall({ ...options, id: null }), id: sessionForm.test(given) ? given : '', options }
}

async function answer(request: Asked<Message> & { body: Message | Message[] }, parts: McpParts): Promise<Reply> {
  const { body, headers: read, origin } = request
  const { call: bare, id: session, options } = sessionOf(request, parts)
  const [first = {}] = Array.isArray(body) ? body : [body]
  const client = nameOf(first) ?? options.client
  const toCall = (id: string | number | null) =>
    new ClientCall({ ...options, client, id: id === null ? null : toCallId(id, session, client, body, parts.now()) })
  const { subscriptions } = parts
  const watch = {
    subscribe: (uri: string) => subscriptions.subscribe(bare, requireSession(session), uri),
    unsubscribe: (uri: string) => subscriptions.unsubscribe(bare, requireSession(session), uri),
  }
  const stream = first.method === 'subscriptions/listen' ? await subscriptions.open(bare, urisOf(first)) : null
  const { fetch } = createMcpHandler(({ era }) => makeServer(parts, era === 'modern' ? null : watch, toCall), {
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
  const answered = await toReply(await fetch(asked, { parsedBody: body }), stream?.end)
  // The id says nothing, and is known to no node before the session listens to something.
  if (first.method !== 'initialize' || answered.status !== 200) return answered
  return { ...answered, headers: { ...answered.headers, 'Mcp-Session-Id': randomUUID() } }
}

function requireSession(session: string): string {
  if (session === '') throw NoSession()
  return session
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

/** The client by its own words; null where it says them in another request. */
function nameOf({ params = {} }: Message): ClientName | null {
  const meta = params._meta as Record<string, unknown> | undefined
  const said = Implementation.safeParse(meta?.['io.modelcontextprotocol/clientInfo'] ?? params.clientInfo)
  return said.success ? { name: said.data.name, version: said.data.version ?? null } : null
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
