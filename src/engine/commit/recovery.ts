import { overloaded } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { violatedConstraint } from '../../postgres/sql.ts'
import { isUnavailable } from '../../postgres/unavailable.ts'
import type { AppActor, PendingCommand } from '../app-actor.ts'
import { isAnswer, OutcomeUnknown, type CommitConnection } from './connection.ts'
import type { FlushEntry } from './flush/decide.ts'
import { isIdempotencyRace } from './idempotency.ts'
import type { ReplyQueue } from './reply-queue.ts'

export interface RecoveryParts {
  /**
   * Called with an actor whose state may be wrong, or whose app is gone. Replaces it by a new one, which gets the
   * commands of its mailbox and before them `taken`: commands that were removed from the mailbox and not begun.
   */
  discard: (actor: AppActor, taken?: PendingCommand[]) => void
  replies: ReplyQueue
  log: Log
}

/** Commits under locks, and gives the replies. Rejects where the commit has failed. */
type CommitApart = (connection: CommitConnection, entries: FlushEntry[]) => Promise<void>

/**
 * Handles commits that have failed: commits each of their commands by itself, so that the one at fault fails alone, and
 * refuses them where PostgreSQL is lost.
 */
export class Recovery {
  readonly #parts: RecoveryParts
  readonly #commitApart: CommitApart

  constructor(parts: RecoveryParts, commitApart: CommitApart) {
    this.#parts = parts
    this.#commitApart = commitApart
  }

  /**
   * Repeats or refuses the commands of a failed commit. Never rejects. Returns false where PostgreSQL was not
   * reachable.
   */
  async recover(connection: CommitConnection, entries: FlushEntry[], error: unknown): Promise<boolean> {
    if (error instanceof OutcomeUnknown) {
      this.#giveUp(entries, error)
      return false
    }
    const alone = entries.flatMap(({ actor, commands }) => commands.map(pending => ({ actor, commands: [pending] })))
    if (alone.length > 1) await this.#separate(connection, alone, error)
    else {
      await connection.rollback()
      await this.#retry(connection, alone[0]!, error)
    }
    return !isUnavailable(error)
  }

  /**
   * Commits entries one by one. Once PostgreSQL is not reachable the rest is refused: each would wait for a timeout,
   * and commands that arrive meanwhile for all of them.
   */
  async #separate(connection: CommitConnection, alone: FlushEntry[], reason: unknown): Promise<void> {
    this.#parts.log.warn(
      { commands: alone.length, error: reason },
      'A group commit failed; its commands are tried alone',
    )
    const waiting = [...alone]
    if (isUnavailable(reason) && !isAnswer(reason)) this.#refuse(waiting.splice(0))
    await connection.rollback()
    for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
      if (entry.actor.isDiscarded) this.#parts.discard(entry.actor, entry.commands)
      else if (!(await this.#commitAlone(connection, entry))) this.#refuse(waiting.splice(0))
    }
  }

  /** Returns false where PostgreSQL was not reachable. Never rejects. */
  async #commitAlone(connection: CommitConnection, entry: FlushEntry): Promise<boolean> {
    try {
      await this.#commitApart(connection, [entry])
      return true
    } catch (error) {
      return this.recover(connection, [entry], error)
    }
  }

  /**
   * Refuses a command that failed alone, unless it lost a race for its idempotency key: then the result of the other
   * commit is read. Never rejects.
   */
  async #retry(connection: CommitConnection, entry: FlushEntry, reason: unknown): Promise<void> {
    if (!isIdempotencyRace(reason)) return this.#fail(entry, reason)
    try {
      await this.#commitApart(connection, [entry])
    } catch (error) {
      if (error instanceof OutcomeUnknown) return this.#giveUp([entry], error)
      await connection.rollback()
      this.#fail(entry, error)
    }
  }

  /** After a commit with an unknown outcome: the apps are loaded again, and callers may repeat their requests. */
  #giveUp(entries: FlushEntry[], error: OutcomeUnknown): void {
    this.#parts.log.error({ apps: entries.length, error }, 'PostgreSQL was lost while committing')
    for (const { actor } of entries) this.#parts.discard(actor)
    this.#refuse(entries)
  }

  #fail({ actor, commands }: FlushEntry, error: unknown): void {
    for (const pending of commands) {
      const conflict = pending.command.conflicts?.[violatedConstraint(error) ?? '']
      if (conflict === undefined) this.#parts.discard(actor)
      this.#parts.replies.refuse([pending], conflict === undefined ? error : conflict())
    }
  }

  /** Answers with 503: callers may repeat their requests in a moment. */
  #refuse(entries: FlushEntry[]): void {
    for (const { commands } of entries) this.#parts.replies.refuse(commands, overloaded())
  }
}
