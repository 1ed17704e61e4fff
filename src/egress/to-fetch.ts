import type { Egress, OpenRequest } from './egress.ts'
import { EgressFailed } from './egress-failed.ts'

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies OpenRequest['method'][])

/** Statuses without a body, by the Fetch standard. */
const bodiless = new Set([204, 205, 304])

/**
 * Returns a `fetch` for libraries that sends each request through the guarded client, with its address checks and the
 * given limits. Request bodies are strings or bytes; response bodies are streams, to be read or cancelled. Redirects
 * are not followed. Rejects as `fetch` does: with the signal's reason, or with a TypeError whose cause is the
 * EgressFailed.
 */
export function toFetch(
  client: Pick<Egress, 'open'>,
  limits: Pick<OpenRequest, 'deadlineMs' | 'idleMs' | 'limitBytes'>,
): typeof fetch {
  return async (input, init) => {
    // Without the signal: a Request would follow it with one of its own, for as long as it lives.
    const request = new Request(input, { ...init, signal: null })
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
    try {
      const {
        status,
        headers,
        body: chunks,
      } = await client.open({
        url: request.url,
        method: requireMethod(request.method),
        headers: Object.fromEntries(request.headers),
        ...(body && { body }),
        ...(signal && { signal }),
        ...limits,
      })
      if (!bodiless.has(status)) return new Response(toStream(chunks, signal), { status, headers })
      await chunks.return?.()
      return new Response(null, { status, headers })
    } catch (error) {
      throw toFetchError(error, signal)
    }
  }
}

function requireMethod(method: string): OpenRequest['method'] {
  if ((methods as Set<string>).has(method)) return method as OpenRequest['method']
  throw new TypeError(`${method} is not a method of the guarded client`)
}

function toStream(chunks: AsyncIterableIterator<Buffer>, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      try {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        controller.error(toFetchError(error, signal))
      }
    },
    async cancel() {
      await chunks.return?.()
    },
  }
  // No reading ahead: a slow reader slows the other side down.
  return new ReadableStream(source, { highWaterMark: 0 })
}

function toFetchError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (!(error instanceof EgressFailed)) return error
  return error.fault === 'stopped' && signal ? signal.reason : new TypeError('fetch failed', { cause: error })
}
