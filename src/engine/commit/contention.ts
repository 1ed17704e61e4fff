/** The careful commits after the first conflict, and the most after any. Guesses. */
const firstCareful = 1
const mostCareful = 64

/**
 * Exponential back-off from optimistic commits, for one app. An optimistic commit that meets a conflict is work done
 * twice, so after each conflict the next commits of the app are careful: they lock it before they decide. Each conflict
 * doubles their number. Counted in commits and not in time, which would pass between two commits of a node that writes
 * rarely.
 */
export class Contention {
  #careful = 0
  #next = firstCareful

  /** True where the next commit should lock the app first. */
  get isCareful(): boolean {
    return this.#careful > 0
  }

  /** Records a commit that found the app changed by another node. */
  conflicted(): void {
    this.#careful = this.#next
    this.#next = Math.min(this.#next * 2, mostCareful)
  }

  /** Records a commit that found the app unchanged. */
  succeeded(): void {
    if (this.#careful > 0) this.#careful--
    else this.#next = firstCareful
  }
}
