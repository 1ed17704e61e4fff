import { FairQueue } from '../../../lib/fair-queue.ts'
import { overloaded } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import { Thread } from '../../../lib/process/thread.ts'
import { readText, type ReadText, type TextTask } from './render.ts'

/** The script of the thread: a file that is run and never imported. */
const renderThread = new URL('./render-thread.ts', import.meta.url)

/**
 * The longest text that is rendered where it arrives, which takes up to 30 ms, on a busy machine and before V8 has
 * optimised the parser. With the longest texts it is 120 (measured).
 */
export const shortLength = 2 * 1024

/** The time limit of a text: ten times what the worst ones take. */
const taskMs = 1_000

/** A text of 64 KiB takes a tenth of it. */
const memoryMb = 128

/**
 * Renders texts: short ones at once, long ones on a thread of its own, so that they do not hold up the event loop. Users
 * take turns there. Starts its thread with the first long text. `close` abandons what waits.
 */
export class Renderer {
  readonly #thread: Thread<TextTask, ReadText>
  readonly #turns = new FairQueue({ atOnce: 1 })

  /** `file` is the script of the thread: it answers a TextTask with a ReadText. */
  constructor(log: Log, file = renderThread) {
    this.#thread = new Thread({ file, taskMs, waitingLimit: 1, memoryMb, log })
  }

  /** Reads a text of a user; see `readText`. Rejects with 503 where the thread fails. */
  read(user: number, task: TextTask): ReadText | Promise<ReadText> {
    return task.text.length <= shortLength ? readText(task) : this.#turns.add(user, () => this.#readApart(task))
  }

  async close(): Promise<void> {
    this.#turns.clear()
    await this.#thread.close()
  }

  async #readApart(task: TextTask): Promise<ReadText> {
    const outcome = await this.#thread.run(task)
    if (outcome.state !== 'done') throw overloaded()
    return outcome.result
  }
}
