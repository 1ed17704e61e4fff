import PQueue from 'p-queue'
import { IsolatedProcess } from '../../lib/process/isolated-process.ts'
import { brokeDown, Unreadable, type Extracted, type ExtractedPart, type ExtractionOrder } from './format.ts'

const program = new URL('./extraction-process.ts', import.meta.url)

/**
 * Extracts text from documents, one at a time, in a child process that ends where a document takes too much time or
 * memory: at most 20 s of processor time and 256 MiB. Safe for hostile bytes. Rejects with Unreadable for the fault of a
 * document, and with other errors where no process could be started and the like.
 */
export class Extractor {
  readonly #process = new IsolatedProcess<ExtractionOrder, Extracted>(program)
  readonly #queue = new PQueue({ concurrency: 1 })

  async read(order: ExtractionOrder, signal: AbortSignal): Promise<ExtractedPart[]> {
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
