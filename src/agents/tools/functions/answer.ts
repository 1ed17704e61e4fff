import type { Answer } from '../../../egress/exchange.ts'
import { toResult } from '../result.ts'
import type { ToolResult } from '../tool.ts'

/** The tool result of an answer: its status, and its body as far as it is text. */
export function toAnswerResult({ status, headers, body, isCut }: Answer): ToolResult {
  const isRedirect = status >= 300 && status < 400
  const text = isRedirect ? '(redirects are not followed)' : bodyOf(headers, body, isCut)
  return toResult(text === '' ? `HTTP ${status}` : `HTTP ${status}\n${text}`, status >= 300)
}

function bodyOf(headers: Record<string, string>, body: Buffer, isCut: boolean): string {
  if (body.length === 0) return ''
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const isEncoded = !/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')
  const isText = type === '' || /^text\/|[/+](?:json|xml|javascript|yaml|x-www-form-urlencoded)$/.test(type)
  if (isEncoded || !isText || (type === '' && body.includes(0))) {
    return `[${isCut ? 'more than ' : ''}${body.length} bytes of ${toName(type)}]`
  }
  const text = decode(headers['content-type'], body)
  return /[/+]json$/.test(type) ? compact(text) : text
}

/** Chosen by the other server, but part of our text. */
const toName = (type: string) => (/^[\w.+/-]{1,100}$/.test(type) ? type : 'an unknown type')

function decode(type: string | undefined, body: Buffer): string {
  const charset = /charset="?([\w-]+)/i.exec(type ?? '')?.[1]
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    // A character set that TextDecoder does not know.
    return body.toString()
  }
}

/** JSON without its white space, which costs tokens; other or truncated text is unchanged. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}
