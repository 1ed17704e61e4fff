import { AsyncLocalStorage } from 'node:async_hooks'
import {
  Client,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type PriorDiscovery,
  type Tool,
} from '@modelcontextprotocol/client'
import type { Egress, OpenRequest } from '../../../egress/egress.ts'
import type { OpenAnswer } from '../../../egress/open-answer.ts'
import { toFetch } from '../../../egress/to-fetch.ts'
import { AnyPage, readListing, type Listing } from './listing.ts'
import type { ToolServerCache, Route } from './server-cache.ts'
import type { ServerAddress } from './server.ts'

/** The limit of connecting and listing. */
export const listMs = 10_000
export const callMs = 30_000

/** Longer than any run: the stream of a server with the HTTP+SSE transport stays open for as long. */
const streamMs = 300_000

/** The most bytes of one answer. The model gets far less, but JSON cannot be parsed in part. */
const answerLimitBytes = 4 * 1024 * 1024
const streamLimitBytes = 16 * 1024 * 1024

/** The most pages of a list: a server that never ends it must not be followed for ever. */
const pageLimit = 50

export interface ConnectionParts {
  egress: Pick<Egress, 'open'>
  cache: ToolServerCache
  version: string
}

/**
 * A tool server as one run uses it, connected on first use with the newest protocol that both sides know. Every request
 * goes through the guarded client, with the configured headers.
 */
export class ToolServerConnection {
  readonly #address: ServerAddress
  readonly #parts: ConnectionParts
  /** Aborts a call when its answer breaks off; the client would wait for another stream. */
  readonly #calls = new AsyncLocalStorage<AbortController>()
  #connected: Promise<Connected> | null = null
  /** Clients whose session is lost. Closed at the end only, as that aborts the calls that are under way on them. */
  readonly #lost: Client[] = []

  constructor(address: ServerAddress, parts: ConnectionParts) {
    this.#address = address
    this.#parts = parts
  }

  /** All tools of the server, cached for as long as the server allows. */
  async list(signal: AbortSignal, { isFresh = false } = {}): Promise<Listing> {
    const { cache } = this.#parts
    const kept = isFresh ? undefined : cache.listingOf(this.#address)
    if (kept !== undefined) return kept
    try {
      const listing = await this.#inSession(signal, client => listTools(client, signal))
      cache.keepListing(this.#address, listing)
      return listing
    } catch (error) {
      cache.forget(this.#address)
      throw error
    }
  }

  async call(tool: Tool, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const broken = new AbortController()
    const options = {
      signal: AbortSignal.any([signal, broken.signal]),
      timeout: callMs,
      maxTotalTimeout: callMs,
      toolDefinition: tool,
    }
    try {
      return await this.#inSession(signal, client =>
        this.#calls.run(broken, () => client.callTool({ name: tool.name, arguments: args }, options)),
      )
    } catch (error) {
      throw broken.signal.aborted ? broken.signal.reason : error
    }
  }

  /** Ends its session, if it has one. Never rejects. */
  async close(): Promise<void> {
    const connected = await this.#connected?.catch(() => null)
    await connected?.end().catch(() => {})
    for (const client of this.#lost) await client.close().catch(() => {})
  }

  /**
   * Runs a request, and once more in a new session where the server does not know the session any more: it answers 404
   * then, and has done nothing (Streamable HTTP, Session Management).
   */
  async #inSession<T>(signal: AbortSignal, run: (client: Client) => Promise<T>): Promise<T> {
    const connecting = this.#connect(signal)
    const { client, hasSession } = await connecting
    try {
      return await run(client)
    } catch (error) {
      if (!hasSession() || statusOf(error) !== 404) throw error
      // Another call of this run may have opened the new one already.
      if (this.#connected === connecting) {
        this.#connected = null
        this.#lost.push(client)
      }
      return await run((await this.#connect(signal)).client)
    }
  }

  #connect(signal: AbortSignal): Promise<Connected> {
    this.#connected ??= this.#open(signal).catch((error: unknown) => {
      this.#connected = null
      throw error
    })
    return this.#connected
  }

  async #open(signal: AbortSignal): Promise<Connected> {
    const { cache } = this.#parts
    const route = cache.routeOf(this.#address)
    if (route !== undefined) {
      // The server may have another version by now.
      const again = await this.#openBy(route.transport, route.prior, signal).catch(() => null)
      if (again !== null) return again
      cache.forget(this.#address)
      signal.throwIfAborted()
    }
    const { connected, transport } = await this.#findRoute(signal)
    cache.keepRoute(this.#address, { transport, prior: priorOf(connected.client) })
    return connected
  }

  async #findRoute(signal: AbortSignal): Promise<{ connected: Connected; transport: Route['transport'] }> {
    try {
      return { connected: await this.#openBy('http', null, signal), transport: 'http' }
    } catch (error) {
      // Servers from before 2025 have no POST here. Any other refusal says nothing about the transport.
      const status = statusOf(error)
      if (status !== 404 && status !== 405) throw error
      return { connected: await this.#openBy('sse', { kind: 'legacy' }, signal), transport: 'sse' }
    }
  }

  async #openBy(transport: Route['transport'], prior: PriorDiscovery | null, signal: AbortSignal): Promise<Connected> {
    const client = new Client(
      { name: 'parley', version: this.#parts.version },
      {
        capabilities: {},
        versionNegotiation: { mode: 'auto' },
        listMaxPages: pageLimit,
        inputRequired: { autoFulfill: false },
        jsonSchemaValidator: unchecked,
      },
    )
    const wire = transport === 'http' ? this.#toHttp() : this.#toSse()
    try {
      await client.connect(wire, { signal, timeout: listMs, ...(prior !== null && { prior }) })
    } catch (error) {
      await client.close().catch(() => {})
      throw error
    }
    const end = async () => {
      // A session that is not ended is kept by the server until it expires.
      if (wire instanceof StreamableHTTPClientTransport) await wire.terminateSession().catch(() => {})
      await client.close()
    }
    const hasSession = () => wire instanceof StreamableHTTPClientTransport && wire.sessionId !== undefined
    return { client, end, hasSession }
  }

  #toHttp(): StreamableHTTPClientTransport {
    const { url, headers } = this.#address
    const egress = { open: (request: OpenRequest) => this.#openWatched(request) }
    const send = toFetch(egress, { deadlineMs: callMs, idleMs: callMs, limitBytes: answerLimitBytes })
    return new StreamableHTTPClientTransport(new URL(url), {
      // No stream for unsolicited messages: servers need not offer one, and this is their answer.
      fetch: async (input, init) => (init?.method === 'GET' ? new Response(null, { status: 405 }) : send(input, init)),
      requestInit: { headers: headers ?? {} },
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 1_000,
        reconnectionDelayGrowFactor: 1,
      },
    })
  }

  async #openWatched(request: OpenRequest): Promise<OpenAnswer> {
    const call = this.#calls.getStore()
    const answer = await this.#parts.egress.open(request)
    const { body } = answer
    const next = async () => {
      try {
        return await body.next()
      } catch (error) {
        call?.abort(error)
        throw error
      }
    }
    return { ...answer, body: { next, return: () => body.return!(), [Symbol.asyncIterator]: () => body } }
  }

  #toSse(): SSEClientTransport {
    const { url, headers } = this.#address
    const limits = { deadlineMs: streamMs, idleMs: streamMs, limitBytes: streamLimitBytes }
    return new SSEClientTransport(new URL(url), {
      fetch: toFetch(this.#parts.egress, limits),
      requestInit: { headers: headers ?? {} },
    })
  }
}

interface Connected {
  client: Client
  end: () => Promise<void>
  /** True where the server has given this connection a session. */
  hasSession: () => boolean
}

/** All tools of a server; one that the client does not understand, or a page of them, does not cost the others. */
async function listTools(client: Client, signal: AbortSignal): Promise<Listing> {
  // The client would otherwise warn on the console that there are none.
  if (client.getServerCapabilities()?.tools === undefined) return readListing({ tools: [] })
  try {
    return readListing(await client.listTools(undefined, { signal, timeout: listMs }))
  } catch (error) {
    signal.throwIfAborted()
    if (statusOf(error) !== null) throw error
    return await listLoosely(client, signal)
  }
}

/** Reads page after page in whatever form, as far as it goes. Throws where not even the first page can be read. */
async function listLoosely(client: Client, signal: AbortSignal): Promise<Listing> {
  const tools: unknown[] = []
  let cursor: string | undefined
  let ttlMs: unknown
  for (let page = 0; page < pageLimit; page++) {
    const params = cursor === undefined ? {} : { cursor }
    try {
      const read = await client.request({ method: 'tools/list', params }, AnyPage, { signal, timeout: listMs })
      // Headers of calls are checked by the client's own listing alone.
      tools.push(...read.tools.filter(tool => !JSON.stringify(tool).includes('"x-mcp-header"')))
      ttlMs ??= read.ttlMs
      if (read.nextCursor === undefined || read.nextCursor === cursor) break
      cursor = read.nextCursor
    } catch (error) {
      if (page === 0) throw error
      return addSkipped(readListing({ tools }), { name: `page ${page + 1}`, reason: 'cannot be read' })
    }
  }
  return readListing({ tools, ttlMs })
}

function addSkipped(listing: Listing, skipped: Listing['skipped'][number]): Listing {
  return { ...listing, skipped: [...listing.skipped, skipped] }
}

/** A tool's output goes to a model, so schemas of other servers are not compiled and run for it. */
const unchecked = {
  getValidator:
    <T>() =>
    (input: unknown) => ({ valid: true as const, data: input as T & {}, errorMessage: undefined }),
}

function priorOf(client: Client): PriorDiscovery {
  const discover = client.getDiscoverResult()
  return discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover }
}

/** The HTTP status of a server's answer; null without an answer. */
export function statusOf(error: unknown): number | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof SdkHttpError) return cause.status
  return null
}
