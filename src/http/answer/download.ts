import type { Readable } from 'node:stream'
import { problem } from '../../lib/errors.ts'
import type { ByteRange } from '../../bytes/bytes.ts'
import type { Exchange } from '../server/exchange.ts'
import type { Reply } from '../route.ts'

export const RangeNotSatisfiable = problem(416, 'range-not-satisfiable', 'The file has no such range of bytes.')

interface DownloadOptions {
  /** Null where the size is unknown; then there are no ranges. */
  sizeBytes: number | null
  /** The ETag of the bytes, with its quotes; null without one. */
  etag: string | null
  open: (range?: ByteRange) => Promise<Readable> | Readable
}

/**
 * The body of a reply that is sent while it is read. The HTTP server handles conditions and ranges (RFC 9110, sections
 * 13 and 14).
 */
export class Download {
  readonly sizeBytes: number | null
  readonly etag: string | null
  readonly open: DownloadOptions['open']

  constructor({ sizeBytes, etag, open }: DownloadOptions) {
    this.sizeBytes = sizeBytes
    this.etag = etag
    this.open = open
  }
}

/** A request's conditional and range headers; empty where absent. */
export interface Conditions {
  range: string
  ifRange: string
  ifNoneMatch: string
}

export const unconditional: Conditions = { range: '', ifRange: '', ifNoneMatch: '' }

export function readConditions(exchange: Exchange): Conditions {
  return {
    range: exchange.header('range'),
    ifRange: exchange.header('if-range'),
    ifNoneMatch: exchange.header('if-none-match'),
  }
}

/**
 * Answers with a download or the requested range of it; 416 for a range outside it. Calls `onCut` where the answer has
 * begun and cannot be finished.
 */
export async function sendDownload(
  exchange: Exchange,
  { status, headers = {} }: Reply,
  download: Download,
  conditions: Conditions,
  onCut: (error: Error) => void,
): Promise<void> {
  const { sizeBytes, etag } = download
  const head: Record<string, string> = { ...headers, ...(etag !== null && { ETag: etag }) }
  if (etag !== null && isKnown(conditions.ifNoneMatch, etag)) {
    delete head['Content-Type']
    return exchange.answer({ status: 304, headers: head })
  }
  if (sizeBytes === null) {
    if (exchange.method === 'HEAD') return exchange.answer({ status, headers: head, lengthBytes: null })
    return exchange.stream({ status, headers: head }, (await download.open()).on('error', onCut), null)
  }
  head['Accept-Ranges'] = 'bytes'
  const isFresh = conditions.ifRange === '' || conditions.ifRange === etag
  const range = isFresh ? toRange(conditions.range, sizeBytes) : null
  if (range === 'outside') throw RangeNotSatisfiable({ range: `bytes */${sizeBytes}` })
  if (range !== null) head['Content-Range'] = `bytes ${range.first}-${range.last}/${sizeBytes}`
  const answer = { status: range === null ? status : 206, headers: head }
  const lengthBytes = range === null ? sizeBytes : range.last - range.first + 1
  if (exchange.method === 'HEAD') return exchange.answer({ ...answer, lengthBytes })
  exchange.stream(answer, (await download.open(range ?? undefined)).on('error', onCut), lengthBytes)
}

/** Null where everything is wanted: no range, several (which may be ignored), or a malformed one. */
function toRange(text: string, sizeBytes: number): ByteRange | 'outside' | null {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(text.trim())
  if (match === null || (match[1] === '' && match[2] === '')) return null
  if (match[1] === '') {
    const lastBytes = Math.min(Number(match[2]), sizeBytes)
    return lastBytes === 0 ? 'outside' : { first: sizeBytes - lastBytes, last: sizeBytes - 1 }
  }
  const first = Number(match[1])
  const last = match[2] === '' ? sizeBytes - 1 : Math.min(Number(match[2]), sizeBytes - 1)
  if (match[2] !== '' && Number(match[2]) < first) return null
  return first >= sizeBytes ? 'outside' : { first, last }
}

function isKnown(list: string, etag: string): boolean {
  if (list.trim() === '*') return true
  return list.split(',').some(one => one.trim().replace(/^W\//, '') === etag)
}
