import type { PendingCommand } from '../app-actor.ts'
import type { AppEvent } from '../event.ts'

/**
 * Replies in one turn of the event loop. Writing replies takes most of this process's time; between small portions, the
 * steps of the next commit, which PostgreSQL waits for, get their turn (measured: 16 did as well as 4 and 64).
 */
const portion = 16

/** The result of a command, with the last of its events if it has made some; or the reason of its refusal. */
export type Reply =
  | { pending: PendingCommand; result: unknown; last?: AppEvent | undefined }
  | { pending: PendingCommand; reason: unknown }

/**
 * Replies to the commands of a node, to each once: nothing else settles the promises of their callers. Replies of
 * commits are sent in the order of the commits. Where other commands wait, sending begins a turn of the event loop
 * later, when the next flush is on its way to PostgreSQL.
 */
export class ReplyQueue {
  #waiting: Reply[] = []
  #next = 0
  #isRunning = false
  #unanswered = 0

  /** Commands whose callers wait for a reply. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** Counts a new command that is owed a reply. */
  expect(): void {
    this.#unanswered++
  }

  /** Queues the replies of a commit. `isLast`: no other command waits. */
  add(replies: readonly Reply[], isLast: boolean): void {
    if (isLast && !this.#isRunning && replies.length <= portion) return replies.forEach(reply => this.send(reply))
    for (const reply of replies) this.#waiting.push(reply)
    if (this.#isRunning || this.#waiting.length === 0) return
    this.#isRunning = true
    // Two turns: postgres.js writes the next flush to its socket in a turn of its own.
    setImmediate(() => setImmediate(() => this.#turn()))
  }

  /** Refuses commands at once. Nothing was committed for them. */
  refuse(commands: readonly PendingCommand[], reason: unknown): void {
    for (const pending of commands) this.send({ pending, reason })
  }

  /** Sends a reply at once. */
  send(reply: Reply): void {
    this.#unanswered--
    const { pending } = reply
    if ('reason' in reply) return pending.reject(reply.reason)
    if (reply.last !== undefined) pending.by.place?.wrote(reply.last.app_id, reply.last.rev)
    pending.resolve(reply.result)
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
