import type { IncomingMessage } from 'node:http'
import type { Cutoff } from './cutoff.ts'
import { EgressFailed } from './egress-failed.ts'
import { broken, type Answer } from './exchange.ts'

/** The head of an answer, and its body as it arrives. */
export interface OpenAnswer extends Omit<Answer, 'body' | 'isCut'> {
  /**
   * Can be read once. Rejects with EgressFailed where the answer breaks off. Ending the iteration early, or aborting
   * the request's signal, closes the connection at once; an unread body is held until the deadline.
   */
  body: AsyncIterableIterator<Buffer>
}

/** The body of an answer as it arrives; releases the connection and the cutoff at its end. */
export function readAsItArrives(
  incoming: IncomingMessage,
  { cutoff, limitBytes }: { cutoff: Cutoff; limitBytes: number },
): AsyncIterableIterator<Buffer> {
  const chunks = incoming[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
  let sizeBytes = 0
  // The connection may break between reads; the next read reports it.
  incoming.on('error', () => {})
  const end = () => {
    cutoff.release()
    incoming.destroy()
  }
  // Not a generator: returning one that never began runs none of its code, which would leave the connection open.
  return {
    async next() {
      try {
        const result = await cutoff.waiting(chunks.next())
        if (result.done) end()
        else if ((sizeBytes += result.value.length) > limitBytes) throw tooLong(limitBytes)
        return result
      } catch (cause) {
        const failure = cutoff.toFailure(cause instanceof EgressFailed ? cause : broken(cause))
        end()
        throw failure
      }
    },
    async return() {
      end()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function tooLong(limitBytes: number): EgressFailed {
  return new EgressFailed('size', `The answer has more than ${limitBytes} bytes`)
}
