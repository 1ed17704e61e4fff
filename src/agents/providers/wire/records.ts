import { createParser } from 'eventsource-parser'
import { ProviderFailed } from '../provider.ts'

/** The most characters of a record. The largest real ones are pictures, or a whole answer at its end. */
const recordLimit = 4 * 1024 * 1024

/**
 * The data of each server-sent event, in whatever pieces the bytes arrive. Skips events without data, comments, other
 * fields, and a last event without a blank line after it. Throws ProviderFailed for a record over 4 MiB.
 */
export async function* readRecords(vendor: string, body: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let ready: string[] = []
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: recordLimit,
    onEvent: ({ data }) => {
      // A record that ends in the chunk that exceeds the limit was never buffered.
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
      throw new ProviderFailed(`${vendor}: a record of more than 4 MiB`, { code: 'provider_error', isRetryable: false })
    }
    const records = ready
    ready = []
    yield* records
  }
}
