import { EgressFailed } from '../../egress/egress-failed.ts'
import type { ToolResult } from './tool.ts'

/** The most bytes of one result for the model. */
export const resultLimitBytes = 64 * 1024

export function toResult(text: string, isError = false): ToolResult {
  return { text: cutBytes(text, resultLimitBytes), isError }
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
