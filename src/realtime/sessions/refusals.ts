import type { Clock } from '../../lib/clock.ts'
import type { Problem } from '../../lib/errors.ts'
import { TokenBuckets } from '../../lib/token-buckets.ts'
import { closeCodes, toCloseCode } from './session.ts'

/** Refusals that are told at once: so many, and then so many a second. Guesses. */
const atOnce = { perSecond: 50, burst: 200 }

/** How long others wait to be told. A guess: most clients that come again at once then come every five seconds. */
const holdMs = 5_000

/** The most connections that wait: 20 MB, as each takes 4 KiB. */
const mostHeld = 5_000

/** A connection that is opened only to be closed with the reason: to a browser, a refused upgrade has none. */
export class Refused {
  readonly code: number
  readonly reason: string
  /** Ends the wait, where it waits. */
  forget: (() => void) | null = null

  constructor({ status, code }: Problem) {
    this.code = status === 503 ? closeCodes.overloaded : toCloseCode(status)
    this.reason = code
  }
}

/**
 * Closes refused connections of a node, at a pace: a client that connects again at once, thousands of times a second, waits
 * for each refusal, and holds up others less.
 */
export class Refusals {
  readonly #clock: Clock
  readonly #pace: TokenBuckets<'all'>
  #held = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#pace = new TokenBuckets({ ...atOnce, now: () => clock.now() })
  }

  /** Tells the client of its refusal, and ends the connection, now or later. */
  end(socket: { end(code: number, reason: string): void }, refused: Refused): void {
    const { code, reason } = refused
    if (this.#held >= mostHeld || this.#pace.take('all') === 0) return socket.end(code, reason)
    this.#held++
    const cancel = this.#clock.after(holdMs, () => {
      refused.forget?.()
      socket.end(code, reason)
    })
    refused.forget = () => {
      refused.forget = null
      this.#held--
      cancel()
    }
  }
}
