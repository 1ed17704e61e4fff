/** After the first conflict, and at most: see below. Guesses. */
const firstCareful = 1
const mostCareful = 64

/**
 * Whether to ask for an app's lock before deciding. Deciding without it is work done twice where another node was
 * faster: so each conflict makes the next commits of this app, and of no other, careful, twice as many as the last one
 * did. Counted in commits and not in time: a node that writes rarely would otherwise forget between two of them.
 */
export class Contention {
  #careful = 0
  #next = firstCareful

  /** The next commit should lock the app first. */
  get isCareful(): boolean {
    return this.#careful > 0
  }

  /** The app had moved when it was to be written. */
  conflicted(): void {
    this.#careful = this.#next
    this.#next = Math.min(this.#next * 2, mostCareful)
  }

  /** What the commit was decided on still held. */
  succeeded(): void {
    if (this.#careful > 0) this.#careful--
    else this.#next = firstCareful
  }
}
