import type { PendingCommand } from '../app-actor.ts'

/**
 * Answers in one turn of the event loop. Writing answers takes most of this process's time: in small portions, the
 * next commit's steps, which PostgreSQL waits for, come in between (measured: 16 did as well as 4 and 64).
 */
const portion = 16

/** What a command came to, or why it was refused. */
export type Reply = { pending: PendingCommand; result: unknown } | { pending: PendingCommand; reason: unknown }

/**
 * Answers the commands of a node, each of them once: nothing else resolves or rejects what their callers wait for. Results
 * of commits are answered in the order of the commits. Where other commands wait this begins a turn after it was asked
 * to, so that the next flush is on its way to PostgreSQL by then.
 */
export class ReplyQueue {
  #waiting: Reply[] = []
  #next = 0
  #isRunning = false
  #unanswered = 0

  /** Commands whose callers wait for an answer. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** A command was made that is to be answered. */
  expect(): void {
    this.#unanswered++
  }

  /** Answers what a commit came to. `isLast`: no other command waits. */
  add(replies: readonly Reply[], isLast: boolean): void {
    if (isLast && !this.#isRunning && replies.length <= portion) return replies.forEach(reply => this.send(reply))
    for (const reply of replies) this.#waiting.push(reply)
    if (this.#isRunning || this.#waiting.length === 0) return
    this.#isRunning = true
    // postgres.js writes in a turn of its own, too.
    setImmediate(() => setImmediate(() => this.#turn()))
  }

  /** Refuses commands at once: nothing was committed of them. */
  refuse(commands: readonly PendingCommand[], reason: unknown): void {
    for (const pending of commands) this.send({ pending, reason })
  }

  /** Answers at once. */
  send(reply: Reply): void {
    this.#unanswered--
    if ('reason' in reply) reply.pending.reject(reply.reason)
    else reply.pending.resolve(reply.result)
  }

  #turn(): void {
    const end = Math.min(this.#next + portion, this.#waiting.length)
    for (; this.#next < end; this.#next++) this.send(this.#waiting[this.#next]!)
    if (this.#next < this.#waiting.length) {
      setImmediate(() => this.#turn())
      return
    }
    this.#waiting = []
    this.#next = 0
    this.#isRunning = false
  }
}
