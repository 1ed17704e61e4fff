import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { EgressFailed } from '../../../egress/egress-failed.ts'
import { reasonOf } from '../result.ts'
import { statusOf } from './connection.ts'

/** The most characters of a server's error message. */
const messageLength = 300

/** The reason why a tool server failed, without addresses. */
export function failureOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof EgressFailed) return reasonOf(cause)
  if (error instanceof ProtocolError) return `It refused: ${error.message.slice(0, messageLength).toWellFormed()}`
  const status = statusOf(error)
  if (status === 401 || status === 403) return `It refused the credentials (HTTP ${status}).`
  if (status !== null) return `It answered with HTTP ${status}.`
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return 'It did not answer in time.'
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType) {
    return 'It asks for more than its arguments, which is not possible here.'
  }
  if (error instanceof Error && error.name === 'TimeoutError') return 'It did not answer in time.'
  return 'It answered what is not the Model Context Protocol.'
}
