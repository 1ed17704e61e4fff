interface Allowance {
  left: number
  countedAt: number
}

interface AllowancesOptions {
  perSecond: number
  /** What is not used adds up to this. */
  most: number
  /** Milliseconds. */
  now: () => number
}

/** Allowances kept; a caller whose allowance was dropped starts with a full one. */
const capacity = 100_000

/** What each caller may take: so much at once, and then at a steady pace. Lost with the process. */
export class Allowances<Caller> {
  readonly #options: AllowancesOptions
  readonly #kept = new Map<Caller, Allowance>()

  constructor(options: AllowancesOptions) {
    this.#options = options
  }

  /** Takes it, and returns 0; where there is less, takes nothing and returns the seconds until there is enough. */
  take(caller: Caller, amount = 1): number {
    const { perSecond, most, now } = this.#options
    const at = now()
    const allowance = this.#kept.get(caller) ?? this.#open(caller, at)
    const gained = (Math.max(0, at - allowance.countedAt) / 1000) * perSecond
    allowance.left = Math.min(most, allowance.left + gained)
    allowance.countedAt = at
    if (allowance.left < amount) return (amount - allowance.left) / perSecond
    allowance.left -= amount
    return 0
  }

  #open(caller: Caller, at: number): Allowance {
    const allowance = { left: this.#options.most, countedAt: at }
    if (this.#kept.size >= capacity) this.#kept.delete(this.#kept.keys().next().value!)
    this.#kept.set(caller, allowance)
    return allowance
  }
}
