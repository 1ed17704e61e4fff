import type { ReplyCheck } from './replies.ts'

// What a test makes of an answer is its own business: it says what it expects, so the compiler need not know.
// oxlint-disable-next-line typescript/no-explicit-any
export type Body = any

export interface Answer {
  status: number
  /** Parsed JSON, or the text of anything else; undefined where there is none. */
  body: Body
  headers: Headers
}

type Extra = Record<string, string>

/** Calls the API of one server with one credential. */
export interface Client {
  request(method: string, path: string, options?: { body?: unknown; headers?: Extra; token?: string }): Promise<Answer>
  get(path: string, headers?: Extra): Promise<Answer>
  post(path: string, body?: unknown, headers?: Extra): Promise<Answer>
  put(path: string, body?: unknown, headers?: Extra): Promise<Answer>
  patch(path: string, body?: unknown, headers?: Extra): Promise<Answer>
  /** A body is rare here; where there is one, it comes before the headers as everywhere. */
  delete(path: string, body?: unknown, headers?: Extra): Promise<Answer>
}

/** `check`, where there is one, holds every answer against what is declared of it. */
export function client(url: string, credential?: string, check?: ReplyCheck): Client {
  const request: Client['request'] = async (method, path, { body, headers = {}, token = credential } = {}) => {
    const { href, pathname, search } = new URL(url + path)
    const response = await fetch(href, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isWritten(body) ? body : JSON.stringify(body) }),
      redirect: 'manual',
    })
    const { status, headers: received } = response
    const answer = { status, body: parse(await response.text(), received), headers: received }
    check?.({ method, path: pathname + search, headers }, answer)
    return answer
  }
  const withBody = (method: string) => (path: string, body?: unknown, headers?: Extra) =>
    request(method, path, { body, ...(headers && { headers }) })
  return {
    request,
    get: (path, headers) => request('GET', path, headers && { headers }),
    post: withBody('POST'),
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    delete: withBody('DELETE'),
  }
}

/** Forms and texts go out as they are. */
function isWritten(body: unknown): body is string | FormData {
  return typeof body === 'string' || body instanceof FormData
}

function parse(text: string, headers: Headers): Body {
  if (text === '') return undefined
  return /[/+]json\b/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : text
}
