import type { Principal } from '../../auth/principal.ts'
import type { PendingCommand } from '../app-actor.ts'

/** A user by id, an API key by its credential. */
type Sender = number | string

/**
 * The commands that wait for an app. Senders take turns: commands are arranged in rounds, with at most one of each
 * sender, so that a user with a thousand commands holds up another by one. The commands of each sender keep their order,
 * and so do those of a round. Adding and taking cost the same, however many wait.
 */
export class Mailbox {
  /** The rounds that are not over, the next one first. */
  readonly #rounds: PendingCommand[][] = []
  /** The number of the first round. */
  #first = 0
  /** Sender → the round of its last command. A round that is over means nothing. */
  readonly #last = new Map<Sender, number>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The next command. */
  get next(): PendingCommand | undefined {
    return this.#rounds[0]?.[0]
  }

  every(holds: (pending: PendingCommand) => boolean | undefined): boolean {
    return this.#rounds.every(round => round.every(pending => holds(pending) === true))
  }

  add(pending: PendingCommand): void {
    const sender = senderOf(pending.by)
    const last = this.#last.get(sender)
    const round = last === undefined || last < this.#first ? this.#first : last + 1
    this.#last.set(sender, round)
    const place = round - this.#first
    const commands = this.#rounds[place]
    if (commands === undefined) this.#rounds[place] = [pending]
    else commands.push(pending)
    this.#size++
  }

  /** Removes commands from the front while `isWanted`, at most so many. */
  take(most: number, isWanted: (pending: PendingCommand) => boolean): PendingCommand[] {
    const taken: PendingCommand[] = []
    while (taken.length < most && this.#rounds.length > 0) {
      const round = this.#rounds[0]!
      const unwanted = round.findIndex(pending => !isWanted(pending))
      const count = Math.min(unwanted === -1 ? round.length : unwanted, most - taken.length)
      if (count < round.length) {
        taken.push(...round.splice(0, count))
        break
      }
      taken.push(...round)
      this.#rounds.shift()
      this.#first++
    }
    this.#size -= taken.length
    if (this.#size === 0) this.#last.clear()
    return taken
  }

  /** Puts commands in front of all others. */
  putBack(commands: readonly PendingCommand[]): void {
    if (commands.length === 0) return
    if (this.#rounds.length === 0) this.#rounds.push([...commands])
    else this.#rounds[0]!.unshift(...commands)
    this.#size += commands.length
  }
}

function senderOf({ kind, user, credential }: Principal): Sender {
  return kind === 'key' ? credential : user
}
