import { problem } from '../../lib/errors.ts'

export const AmbiguousRequest = problem(
  400,
  'ambiguous-request',
  'The headers do not say clearly where the request ends, or which host it is for.',
)

/** A request whose headers can be visited: names in lower case, a repeated header once per line. */
interface HeaderLines {
  forEach(visit: (name: string, value: string) => void): void
}

/**
 * False where a proxy and this server might read the request differently, because they take the end of its body, or its
 * host, from different lines (RFC 9112, sections 3.2, 6.1 and 6.3): two `Host`, two `Content-Length` or an empty one,
 * or a `Transfer-Encoding` other than a single `chunked`. uWebSockets.js itself refuses lengths that are no number, and
 * both headers together.
 */
export function isClearlyFramed(request: HeaderLines): boolean {
  let hosts = 0
  let lengths = 0
  let encodings = 0
  let isKnown = true
  request.forEach((name, value) => {
    if (name === 'host') hosts++
    else if (name === 'content-length') {
      lengths++
      isKnown &&= value !== ''
    } else if (name === 'transfer-encoding') {
      encodings++
      isKnown &&= value.toLowerCase() === 'chunked'
    }
  })
  return isKnown && hosts <= 1 && lengths <= 1 && encodings <= 1
}
