import { summarise, type Latencies } from '../latencies.ts'
import { wait } from './pace.ts'

/** What the parent hears while a job runs: `started` and `ended` enclose what is measured, `slice` ends a part of it. */
export type Notice = 'started' | 'slice' | 'ended'

/** How far a job is. */
export interface Progress {
  seconds: number
  operations: number
}

export type Notify = (notice: Notice | Progress) => void

/** How long something is measured, and in which parts. */
export interface Timing {
  warmupSeconds: number
  seconds: number
  /** Figures are also given for each part of this length. */
  sliceSeconds?: number
}

export interface Recorded {
  /** Operations within the measured time. */
  operations: number
  seconds: number
  /** Operations from the first to the last, the warm-up and what was under way at the end included. */
  allOperations: number
  /** Answers other than 2xx, at any time. */
  failures: number
  latencies: Latencies
  slices: Latencies[]
}

/** How often it is told how far a job is. */
const progressSeconds = 10

/** How long what is under way at the end may take. */
const graceSeconds = 10

/** Takes down what becomes of requests, and when. */
export class Recorder {
  readonly #slices: number[][] = [[]]
  #isMeasured = false
  #answered = 0
  #failures = 0
  #measured = 0

  /** An operation has ended after so long, with this status. */
  record(latencyMs: number, status: number): void {
    this.#answered++
    if (status < 200 || status > 299) this.#failures++
    if (!this.#isMeasured) return
    this.#measured++
    this.#slices.at(-1)!.push(latencyMs)
  }

  /**
   * Lets the time pass in which load is made, then ends it with `end` and waits until nothing is `open`. Rejects when
   * `failed` does.
   */
  async run(
    { warmupSeconds, seconds, sliceSeconds }: Timing,
    { notify, failed, end, open }: { notify: Notify; failed: Promise<never>; end: () => void; open: () => number },
  ): Promise<Recorded> {
    const pass = (time: number) => Promise.race([wait(time), failed])
    await pass(warmupSeconds)
    this.#isMeasured = true
    notify('started')
    const start = performance.now()
    const passed = () => (performance.now() - start) / 1000
    let nextProgress = progressSeconds
    const slices = Math.round(seconds / (sliceSeconds ?? seconds))
    for (let slice = 1; slice <= slices; slice++) {
      const until = (slice * seconds) / slices
      while (passed() < until) {
        await pass(Math.max(0, Math.min(until, nextProgress) - passed()))
        if (passed() < nextProgress) continue
        nextProgress += progressSeconds
        notify({ seconds: passed(), operations: this.#measured })
      }
      if (slice === slices) break
      this.#slices.push([])
      notify('slice')
    }
    this.#isMeasured = false
    notify('ended')
    const tookSeconds = passed()
    end()
    for (let waited = 0; open() > 0 && waited < graceSeconds; waited += 0.01) await pass(0.01)
    return {
      operations: this.#measured,
      seconds: tookSeconds,
      allOperations: this.#answered - this.#failures,
      failures: this.#failures + open(),
      latencies: summarise(this.#slices.flat()),
      slices: this.#slices.map(summarise),
    }
  }
}
