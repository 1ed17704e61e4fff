import { LRUCache } from 'lru-cache'
import type { Log } from '../lib/log.ts'
import { Thread } from '../lib/process/thread.ts'

/** A text to be shown as HTML: code of the language that a file extension stands for, or Markdown. */
export type PreviewTask = { form: 'code'; language: string; text: string } | { form: 'Markdown'; text: string }

/** Null where none could be made. */
interface Preview {
  html: string | null
}

/** 32 KiB of code take up to 100 ms, hostile ones half a minute. A guess. */
const taskMs = 500

/** Texts that may wait on this node: if all are hostile, the last one waits for 10 s. A guess. */
const waitingLimit = 20

/** The largest previews take a fifth of it to make. */
const memoryMb = 128

/** Characters of the previews that are kept. A guess. */
const keptLength = 16 * 1024 * 1024

/** What a preview takes beside its text, in characters: a failure has none. */
const entryLength = 256

/**
 * Makes HTML of texts on a thread of its own, once for all who ask as long as it is kept in memory; what was not asked
 * for longest goes first. Any text may be thrown at it.
 */
export class Previews {
  readonly #thread: Thread<PreviewTask, string | null>
  readonly #making = new Map<string, Promise<string | null>>()
  readonly #kept = new LRUCache<string, Preview>({ maxSize: keptLength, sizeCalculation: lengthOf })

  /** `file` is what the thread runs: it answers a PreviewTask with HTML, or null. */
  constructor(file: URL, log: Log) {
    this.#thread = new Thread({ file, taskMs, waitingLimit, memoryMb, log })
  }

  /**
   * The preview of this name, which always means the same text in the same form; `read` is called if it must be made.
   * Null where there is none: the form is not known, making it takes too long, or too many others wait.
   */
  async of(name: string, read: () => Promise<PreviewTask>): Promise<string | null> {
    const kept = this.#kept.get(name)
    if (kept !== undefined) return kept.html
    const making = this.#making.get(name)
    if (making !== undefined) return making
    const made = this.#make(name, read).finally(() => this.#making.delete(name))
    this.#making.set(name, made)
    return made
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  async #make(name: string, read: () => Promise<PreviewTask>): Promise<string | null> {
    const outcome = await this.#thread.run(await read())
    const html = outcome.state === 'done' ? outcome.result : null
    // What failed is kept as well: trying it again would hold up the others again.
    if (outcome.state !== 'turned away') this.#kept.set(name, { html })
    return html
  }
}

function lengthOf({ html }: Preview): number {
  return entryLength + (html?.length ?? 0)
}
