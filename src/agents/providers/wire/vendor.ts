import type { Egress } from '../../../egress/egress.ts'
import { EgressFailed } from '../../../egress/egress-failed.ts'
import { ProviderFailed } from '../provider.ts'
import { toBrokenFailure, toFailure, unreadable } from './failure.ts'
import { readRecords } from './records.ts'

/** A connection that is silent for this long counts as cut. */
const silenceMs = 60_000

/** Runs end much earlier and abort their request; this closes connections that were forgotten. */
const deadlineMs = 3_600_000

/**
 * The most bytes of a stream. Every few characters come in a record of some 300 bytes, of which nothing else is kept: the
 * longest text takes 16 MiB.
 */
const streamLimitBytes = 64 * 1024 * 1024

/** The most bytes of an answer that comes whole. */
const wholeLimitBytes = 4 * 1024 * 1024

/** The most bytes read of an error; codes and pauses are within. */
const errorLimitBytes = 65_536

export interface VendorOptions {
  /** As in the settings of agents: `anthropic`. */
  id: string
  /** Without a slash at its end. */
  url: string
  /** Sent with every request; holds the key. */
  headers: Record<string, string>
  client: Pick<Egress, 'open'>
  /** Removes keys from a vendor's error. */
  conceal: (text: string) => string
}

export type Vendor = ReturnType<typeof openVendor>
export type VendorAnswer = Awaited<ReturnType<Vendor['post']>>

/** One vendor's HTTP API: JSON by POST; every failure is a ProviderFailed. */
export function openVendor({ id, url, headers, client, conceal }: VendorOptions) {
  const toCause = (error: unknown, signal: AbortSignal): unknown => {
    if (!(error instanceof EgressFailed)) return error
    return error.fault === 'stopped' ? signal.reason : toBrokenFailure(id, error)
  }

  async function* read(body: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer, void> {
    try {
      yield* body
    } catch (error) {
      throw toCause(error, signal)
    }
  }

  return {
    id,
    /** The host of the API. */
    host: new URL(url).host,
    /** Resolves with a 2xx answer once its head has arrived. Its body can be read once, in one of two forms. */
    async post(path: string, body: object, signal: AbortSignal, accept = 'text/event-stream') {
      const request = {
        url: `${url}${path}`,
        method: 'POST' as const,
        headers: { 'content-type': 'application/json', accept, ...headers },
        body: Buffer.from(JSON.stringify(body)),
        signal,
      }
      const limits = { deadlineMs, idleMs: silenceMs, limitBytes: streamLimitBytes }
      const answer = await client.open({ ...request, ...limits }).catch((error: unknown) => {
        throw toCause(error, signal)
      })
      const { status } = answer
      const requestId = answer.headers['request-id'] ?? answer.headers['x-request-id']
      if (status < 200 || status > 299) {
        const text = conceal(await readBeginning(answer.body))
        throw toFailure(id, { status, headers: answer.headers, text, requestId })
      }
      const content = read(answer.body, signal)
      return {
        /** The vendor's id of this request. */
        requestId,
        isJson: /^application\/(?:[\w.-]+\+)?json\b/i.test(answer.headers['content-type'] ?? ''),
        /** The data of its server-sent events. Ending the iteration closes the connection. */
        records: () => readRecords(id, content),
        json: async () => parseJson(id, (await readWhole(id, content)).toString()),
      }
    },
  }
}

/** JSON of a vendor. Throws a ProviderFailed for anything else. */
export function parseJson(vendor: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable(vendor, 'What came is not JSON')
  }
}

async function readWhole(vendor: string, body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    sizeBytes += chunk.length
    if (sizeBytes <= wholeLimitBytes) continue
    throw new ProviderFailed(`${vendor}: an answer of more than 4 MiB`, { code: 'provider_error', isRetryable: false })
  }
  return Buffer.concat(chunks)
}

async function readBeginning(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      sizeBytes += chunk.length
      if (sizeBytes >= errorLimitBytes) break
    }
  } catch {
    // The status is known; the rest of the error would add nothing.
  }
  return Buffer.concat(chunks).subarray(0, errorLimitBytes).toString()
}
