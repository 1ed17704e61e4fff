import type { OpenAnswer } from '../../../egress/open-answer.ts'
import { joinEnds, resultLimitBytes, toResult, type Ends } from '../result.ts'
import type { ToolResult } from '../tool.ts'

/** The line before the body. */
const statusBytes = 'HTTP 200\n'.length

/** How much of a body is read for its tail and its size. */
const readLimitBytes = 32 * 1024 * 1024

/** The tool result of an answer: its status, and its body as far as it is text. Rejects as reading the body does. */
export async function toAnswerResult({ status, headers, body }: OpenAnswer): Promise<ToolResult> {
  const isRedirect = status >= 300 && status < 400
  if (isRedirect) await body.return!()
  const text = isRedirect ? '(redirects are not followed)' : bodyOf(headers, await readEnds(body))
  return toResult(text === '' ? `HTTP ${status}` : `HTTP ${status}\n${text}`, status >= 300)
}

/** Reads a body, of which some 64 KiB from either end are kept. */
async function readEnds(body: AsyncIterable<Buffer>): Promise<Ends> {
  const head: Buffer[] = []
  const tail: Buffer[] = []
  let sizeBytes = 0
  let tailBytes = 0
  let isMore = false
  try {
    for await (const chunk of body) {
      if (sizeBytes < resultLimitBytes) head.push(chunk)
      sizeBytes += chunk.length
      tail.push(chunk)
      tailBytes += chunk.length
      while (tailBytes - tail[0]!.length >= resultLimitBytes) tailBytes -= tail.shift()!.length
      isMore = sizeBytes > readLimitBytes
      if (isMore) break
    }
  } catch (error) {
    // The time is up, or the answer breaks off: what there is fills a result.
    if (sizeBytes <= resultLimitBytes) throw error
    isMore = true
  }
  return { head: Buffer.concat(head).subarray(0, resultLimitBytes), tail: Buffer.concat(tail), sizeBytes, isMore }
}

function bodyOf(headers: Record<string, string>, ends: Ends): string {
  const { head: body, sizeBytes } = ends
  const isCut = ends.isMore || sizeBytes > body.length
  if (body.length === 0) return ''
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const isEncoded = !/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')
  const isText = type === '' || /^text\/|[/+](?:json|xml|javascript|yaml|x-www-form-urlencoded)$/.test(type)
  if (isEncoded || !isText || (type === '' && body.includes(0))) {
    return `[${ends.isMore ? 'more than ' : ''}${sizeBytes} bytes of ${toName(type)}]`
  }
  if (isCut) return joinEnds({ ...ends, head: recode(headers, body), tail: recode(headers, ends.tail) }, statusBytes)
  const text = decode(headers['content-type'], body)
  return /[/+]json$/.test(type) ? compact(text) : text
}

/** As UTF-8. */
function recode(headers: Record<string, string>, bytes: Buffer): Buffer {
  const isUtf8 = !/charset="?(?!utf-?8)/i.test(headers['content-type'] ?? '')
  return isUtf8 ? bytes : Buffer.from(decode(headers['content-type'], bytes))
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
