import type { LookupAddress } from 'node:dns'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { EgressFailed } from './egress-failed.ts'

/**
 * The limit of connecting to one address before the next is tried; the last one has no limit. A lost first packet is
 * repeated after a second, and a round trip around the world takes a third of one: Node.js's default of a quarter is
 * too short.
 */
const connectMs = 1_500

/**
 * The most interim responses (1xx, RFC 9110 section 15.2) before the final one: an endless sequence would keep this
 * thread busy. A guess.
 */
const interimLimit = 20

export interface Answer {
  /** The URL that answered. */
  url: URL
  status: number
  /** Names in lower case; repeated fields are joined by commas. */
  headers: Record<string, string>
  body: Buffer
  /** True where the body was longer than `keepBytes`. */
  isCut: boolean
}

interface BeginOptions {
  method: string
  headers: Record<string, string>
  body?: Buffer
  signal: AbortSignal
}

/**
 * Sends one request over a new connection to one of the addresses, whatever the URL's name resolves to by now. Reads at
 * most `keepBytes` of the answer's body, and closes the connection where it is longer. Rejects with EgressFailed, also on
 * abort.
 */
export async function exchange(
  url: URL,
  addresses: LookupAddress[],
  options: BeginOptions & { keepBytes: number },
): Promise<Answer> {
  const incoming = await begin(url, addresses, options)
  const chunks: Buffer[] = []
  let sizeBytes = 0
  const answer = () => ({
    url,
    ...headOf(incoming),
    body: Buffer.concat(chunks).subarray(0, options.keepBytes),
    isCut: sizeBytes > options.keepBytes,
  })
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      sizeBytes += chunk.length
      // Leaving the loop destroys the stream, and the connection with it.
      if (sizeBytes > options.keepBytes) break
    }
  } catch (cause) {
    throw broken(cause, answer())
  }
  return answer()
}

/** Sends a request like `exchange`, and resolves when the head of the answer has arrived. */
export async function begin(url: URL, addresses: LookupAddress[], options: BeginOptions): Promise<IncomingMessage> {
  return connectAndSend(url, addresses, options).catch((cause: unknown) => {
    throw broken(cause)
  })
}

function connectAndSend(url: URL, addresses: LookupAddress[], { method, headers, body, signal }: BeginOptions) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const request = url.protocol === 'https:' ? https.request : http.request
    // No agent: see Egress for why connections are not kept.
    const connecting = { agent: false, lookup: pinnedTo(addresses), autoSelectFamilyAttemptTimeout: connectMs }
    const outgoing = request(url, { method, headers, signal, ...connecting })
    let interim = 0
    outgoing.on('information', () => {
      if (++interim > interimLimit) outgoing.destroy(new Error('The other side said too much before its answer'))
    })
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    outgoing.on('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(new Error('The other side switched protocols'))
    })
    outgoing.end(body)
  })
}

/** A lookup function for the connection that returns only the addresses that were checked. */
function pinnedTo(addresses: LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    if (all) done(null, addresses)
    else done(null, addresses[0]!.address, addresses[0]!.family)
  }
}

/** The status and headers of an answer. */
export function headOf({ statusCode = 0, headers }: IncomingMessage): Pick<Answer, 'status' | 'headers'> {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)])
  return { status: statusCode, headers: Object.fromEntries(texts) }
}

/** The connection was lost or closed before the answer was complete, of which `partial` had arrived. */
export function broken(cause: unknown, partial?: Answer): EgressFailed {
  return new EgressFailed('connection', textOf(cause), { cause, partial })
}

/** An error of connecting to several addresses has no message of its own. */
function textOf(cause: unknown): string {
  if (cause instanceof AggregateError) return textOf(cause.errors[0])
  return cause instanceof Error ? cause.message : String(cause)
}
