import { EgressFailed } from '../../egress/egress-failed.ts'
import type { ToolResult } from './tool.ts'

/** The most bytes of one result for the model. */
export const resultLimitBytes = 64 * 1024

export function toResult(text: string, isError = false): ToolResult {
  return { text: cutMiddle(Buffer.from(text)), isError }
}

/** What is known of a text that was too long to be kept: its head and its tail. */
export interface Ends {
  head: Buffer
  tail: Buffer
  /** The size of the whole text; `isMore`: at least. */
  sizeBytes: number
  isMore: boolean
}

/** A text of at most 64 KiB, or its head and tail with a mark between them that says how much of it there was. */
export function cutMiddle(bytes: Buffer): string {
  const { length } = bytes
  if (length <= resultLimitBytes) return bytes.toString()
  return joinEnds({ head: bytes, tail: bytes, sizeBytes: length, isMore: false })
}

/** Head and tail, each cut between characters, as a text that leaves `besideBytes` of 64 KiB. */
export function joinEnds({ head, tail, sizeBytes, isMore }: Ends, besideBytes = 0): string {
  const kibibytes = Math.ceil(sizeBytes / 1024).toLocaleString('en')
  const mark = `\n[cut: ${resultLimitBytes / 1024} of ${isMore ? 'more than ' : ''}${kibibytes} KiB]\n`
  const half = Math.floor((resultLimitBytes - besideBytes - mark.length) / 2)
  let end = Math.min(half, head.length)
  // Bytes in the middle of a character begin with the bits 10.
  while (end < head.length && (head[end]! & 0xc0) === 0x80) end--
  let start = Math.max(0, tail.length - half)
  while (start < tail.length && (tail[start]! & 0xc0) === 0x80) start++
  return `${head.toString('utf8', 0, end)}${mark}${tail.toString('utf8', start)}`
}

/** An error for the model, which may report it or try otherwise; the run continues. */
export function toError(text: string): ToolResult {
  return toResult(text, true)
}

/** The beginning of a text, cut between characters. */
export function cutBytes(text: string, limitBytes: number): string {
  if (text.length * 3 <= limitBytes) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= limitBytes) return text
  let end = limitBytes
  // Bytes in the middle of a character begin with the bits 10.
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/** The reason why there was no answer, without addresses: the model may repeat it to users. */
export function reasonOf(error: unknown): string {
  const failure = error instanceof EgressFailed ? error : error instanceof Error ? error.cause : null
  if (!(failure instanceof EgressFailed)) return 'It could not be reached.'
  if (failure.fault === 'address' || failure.fault === 'url') return 'Its address may not be reached.'
  if (failure.fault === 'deadline' || failure.fault === 'idle') return 'It did not answer in time.'
  if (failure.fault === 'size') return 'It answered more than may be read.'
  return 'It could not be reached.'
}
