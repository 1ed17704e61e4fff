import type { CommandResult } from './decide.ts'

/**
 * Answers in one turn of the event loop. Writing answers takes most of this process's time: in small portions, the
 * next commit's steps, which PostgreSQL waits for, come in between (measured: 16 did as well as 4 and 64).
 */
const portion = 16

/**
 * Tells callers what became of their commands, in the order of the commits. Where other commands wait it begins a turn
 * after it was asked to, so that the next flush is on its way to PostgreSQL by then.
 */
export class ReplyQueue {
  #waiting: CommandResult[] = []
  #next = 0
  #isRunning = false

  /** Nobody waits for an answer. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** `isLast`: no other command waits. */
  add(results: CommandResult[], isLast: boolean): void {
    if (isLast && !this.#isRunning && results.length <= portion) return results.forEach(reply)
    for (const result of results) this.#waiting.push(result)
    if (this.#isRunning || this.isEmpty) return
    this.#isRunning = true
    // postgres.js writes in a turn of its own, too.
    setImmediate(() => setImmediate(() => this.#turn()))
  }

  #turn(): void {
    const end = Math.min(this.#next + portion, this.#waiting.length)
    for (; this.#next < end; this.#next++) reply(this.#waiting[this.#next]!)
    if (this.#next < this.#waiting.length) {
      setImmediate(() => this.#turn())
      return
    }
    this.#waiting = []
    this.#next = 0
    this.#isRunning = false
  }
}

function reply(result: CommandResult): void {
  if ('reason' in result) result.pending.reject(result.reason)
  else result.pending.resolve(result.result)
}
