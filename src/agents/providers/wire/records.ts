import { createParser } from 'eventsource-parser'
import { ProviderFailed } from '../provider.ts'

/** Characters of one record. The largest real ones are images that a model has drawn, or a whole answer at its end. */
const recordLimit = 4 * 1024 * 1024

/**
 * The data of each server-sent event, however the bytes are cut. Events without data, comments and other fields are
 * passed over, and so is a last event without a blank line behind it. Throws ProviderFailed for a record over 4 MiB.
 */
export async function* readRecords(vendor: string, body: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let ready: string[] = []
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: recordLimit,
    onEvent: ({ data }) => {
      // One whose end came with the bytes that went over the limit was never held back.
      isTooLong ||= data.length > recordLimit
      ready.push(data)
    },
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded'
    },
  })
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    if (isTooLong) {
      throw new ProviderFailed(`${vendor}: a record of more than 4 MiB`, {
        code: 'provider_error',
        status: null,
        isRetryable: false,
      })
    }
    const records = ready
    ready = []
    yield* records
  }
}
