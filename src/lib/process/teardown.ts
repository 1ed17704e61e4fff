import type { Log } from '../log.ts'

interface Step {
  name: string
  end: (deadlineMs: number) => Promise<void> | void
}

/**
 * The steps that stop what was started, run in reverse order. A step that fails or takes too long is logged, and does
 * not stop the others: each may use 60 % of the remaining time, so that some is left for the next.
 */
export class Teardown {
  readonly #log: Log
  readonly #steps: Step[] = []
  #running: Promise<void> | null = null

  constructor(log: Log) {
    this.#log = log
  }

  /** Adds a step; `end` is given the time that it may take, in milliseconds. */
  add(name: string, end: Step['end']): void {
    this.#steps.push({ name, end })
  }

  /** Runs all steps within `budgetMs`. Never rejects; a second call waits for the first. */
  run(budgetMs: number): Promise<void> {
    this.#running ??= this.#run(Date.now() + budgetMs)
    return this.#running
  }

  async #run(endsAt: number): Promise<void> {
    for (const { name, end } of this.#steps.splice(0).reverse()) {
      const deadlineMs = Math.max((endsAt - Date.now()) * 0.6, 100)
      try {
        await inTime(end(deadlineMs), deadlineMs)
      } catch (error) {
        this.#log.warn({ step: name, error }, 'A part did not stop as it should')
      }
    }
  }
}

async function inTime(work: Promise<void> | void, deadlineMs: number): Promise<void> {
  const late = Promise.withResolvers<never>()
  const giveUp = () => late.reject(new Error(`not ended after ${Math.round(deadlineMs)} ms`))
  const timer = setTimeout(giveUp, deadlineMs)
  try {
    await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
