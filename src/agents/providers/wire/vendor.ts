import type { Egress } from '../../../egress/egress.ts'
import { EgressFailed } from '../../../egress/egress-failed.ts'
import type { OpenAnswer } from '../../../egress/open-answer.ts'
import { toBrokenFailure, toFailure, unreadable } from './failure.ts'
import { readRecords } from './records.ts'

/** A connection that is silent for this long counts as cut. */
const silenceMs = 60_000

/** Runs end much earlier and abort their request; this closes connections that were forgotten. */
const deadlineMs = 3_600_000

/** The most bytes of an answer, with everything around its text. */
const answerLimitBytes = 16 * 1024 * 1024

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

/** One vendor's HTTP API: JSON by POST; every failure is a ProviderFailed. */
export class Vendor {
  readonly id: string
  /** The host of the API. */
  readonly host: string
  readonly #options: VendorOptions

  constructor(options: VendorOptions) {
    this.id = options.id
    this.host = new URL(options.url).host
    this.#options = options
  }

  /** Resolves with a 2xx answer once its head has arrived. */
  async post(path: string, body: object, signal: AbortSignal, accept = 'text/event-stream'): Promise<VendorAnswer> {
    const { url, headers, client } = this.#options
    const request = {
      url: `${url}${path}`,
      method: 'POST' as const,
      headers: { 'content-type': 'application/json', accept, ...headers },
      body: Buffer.from(JSON.stringify(body)),
      signal,
    }
    try {
      const answer = await client.open({ ...request, deadlineMs, idleMs: silenceMs, limitBytes: answerLimitBytes })
      if (answer.status < 200 || answer.status > 299) throw await this.#refusalOf(answer)
      return new VendorAnswer(this.id, answer, error => this.#toFailure(error, signal))
    } catch (error) {
      throw this.#toFailure(error, signal)
    }
  }

  async #refusalOf({ status, headers, body }: OpenAnswer): Promise<Error> {
    const text = this.#options.conceal(await readBeginning(body))
    return toFailure(this.id, { status, headers, text, requestId: requestIdOf(headers) })
  }

  #toFailure(error: unknown, signal: AbortSignal): unknown {
    if (!(error instanceof EgressFailed)) return error
    return error.fault === 'stopped' ? signal.reason : toBrokenFailure(this.id, error)
  }
}

/** A 2xx answer. Its body can be read once, in one of two forms. */
export class VendorAnswer {
  readonly #vendor: string
  readonly #answer: OpenAnswer
  readonly #toFailure: (error: unknown) => unknown

  constructor(vendor: string, answer: OpenAnswer, toFailure: (error: unknown) => unknown) {
    this.#vendor = vendor
    this.#answer = answer
    this.#toFailure = toFailure
  }

  /** The vendor's id of this request. */
  get requestId(): string | undefined {
    return requestIdOf(this.#answer.headers)
  }

  get isJson(): boolean {
    return /^application\/(?:[\w.-]+\+)?json\b/i.test(this.#answer.headers['content-type'] ?? '')
  }

  /** The data of its server-sent events. Ending the iteration closes the connection. */
  async *records(): AsyncGenerator<string, void> {
    try {
      yield* readRecords(this.#vendor, this.#answer.body)
    } catch (error) {
      throw this.#toFailure(error)
    }
  }

  async json(): Promise<unknown> {
    try {
      const chunks: Buffer[] = []
      for await (const chunk of this.#answer.body) chunks.push(chunk)
      return parseJson(this.#vendor, Buffer.concat(chunks).toString())
    } catch (error) {
      throw this.#toFailure(error)
    }
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

function requestIdOf(headers: Record<string, string>): string | undefined {
  return headers['request-id'] ?? headers['x-request-id']
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
