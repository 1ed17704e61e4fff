import PQueue from 'p-queue'
import { IsolatedProcess } from '../../lib/process/isolated-process.ts'
import type { ExtractedPart, Extraction } from './extraction.ts'
import { brokeDown, formatOf, Unreadable, type Extracted, type ExtractionOrder } from './format.ts'

const program = new URL('./extraction-process.ts', import.meta.url)

/**
 * Extracts text from documents, one at a time, in a child process that ends where a document takes too much time or
 * memory. Safe for hostile bytes. Rejects with Unreadable for the fault of a document, and with other errors where no
 * process could be started and the like.
 */
export class Extractor implements Extraction {
  readonly #process = new IsolatedProcess<ExtractionOrder, Extracted>(program)
  readonly #queue = new PQueue({ concurrency: 1 })

  isReadable(file: { name: string; media_type: string }): boolean {
    return formatOf(file) !== null
  }

  /** `content` may be the path of a file. */
  async read(
    file: { name: string; media_type: string; content: Uint8Array | string },
    signal: AbortSignal,
  ): Promise<ExtractedPart[]> {
    const format = formatOf(file)
    if (format === null) throw new Unreadable('It has a format that cannot be read.')
    const order = { format, source: file.content }
    const extracted = await this.#queue.add(async () => (await this.#process.ask(order)) ?? brokeDown, { signal })
    if (extracted.state === 'failed') throw new Unreadable(extracted.reason)
    return extracted.parts
  }

  /** Ends the process; waiting documents get no text. */
  stop(): void {
    this.#queue.clear()
    this.#process.stop()
  }
}
