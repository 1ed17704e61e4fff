import { LRUCache } from 'lru-cache'
import { FairQueue } from '../lib/fair-queue.ts'
import type { Log } from '../lib/log.ts'
import { Thread } from '../lib/process/thread.ts'

/** A text to show as HTML: code in the language of a file extension, or Markdown. */
export type PreviewTask = { form: 'code'; language: string; text: string } | { form: 'Markdown'; text: string }

/** Null where no preview could be made. */
interface Preview {
  html: string | null
}

/**
 * The processor time of a preview: 32 KiB of code take up to 100 ms, more where the machine is busy, and hostile texts
 * half a minute. A guess.
 */
const taskMs = 1_500

/** The most texts of one user that may wait on this node: if all are hostile, the last one waits for 10 s. A guess. */
const waitingOfOne = 20

/** The largest previews take a fifth of it. */
const memoryMb = 128

/** Characters of the cached previews. A guess. */
const keptLength = 16 * 1024 * 1024

/** What an entry counts beside its text, in characters: a failure has no text. */
const entryLength = 256

/**
 * Makes HTML of texts on a thread of its own, and caches it in memory; the least recently used entries are evicted
 * first. Safe for hostile texts. Uploaders take turns, so that slow texts of one hold up only requests for these.
 */
export class Previews {
  readonly #thread: Thread<PreviewTask, string | null>
  readonly #turns = new FairQueue({ atOnce: 1 })
  readonly #making = new Map<string, Promise<string | null>>()
  readonly #kept = new LRUCache<string, Preview>({ maxSize: keptLength, sizeCalculation: lengthOf })

  /** `file` is the script of the thread: it answers a PreviewTask with HTML or null. */
  constructor(file: URL, log: Log) {
    this.#thread = new Thread({ file, taskMs, waitingLimit: 1, memoryMb, log })
  }

  /**
   * The preview with this name, which always means one text of a user in one form; `read` is called where it is not
   * cached. Null where there is none: the form is not known, making it takes too long, or too many wait.
   */
  async of(name: string, uploader: number, read: () => Promise<PreviewTask>): Promise<string | null> {
    const kept = this.#kept.get(name)
    if (kept !== undefined) return kept.html
    const making = this.#making.get(name)
    if (making !== undefined) return making
    if (this.#turns.countOf(uploader) > waitingOfOne) return null
    const made = this.#turns.add(uploader, () => this.#make(name, read)).finally(() => this.#making.delete(name))
    this.#making.set(name, made)
    return made
  }

  async close(): Promise<void> {
    this.#turns.clear()
    await this.#thread.close()
  }

  async #make(name: string, read: () => Promise<PreviewTask>): Promise<string | null> {
    const outcome = await this.#thread.run(await read())
    const html = outcome.state === 'done' ? outcome.result : null
    // Failures are cached too: another attempt would hold up the others again.
    if (outcome.state !== 'turned away') this.#kept.set(name, { html })
    return html
  }
}

function lengthOf({ html }: Preview): number {
  return entryLength + (html?.length ?? 0)
}
