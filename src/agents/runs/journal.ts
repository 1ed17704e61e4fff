import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Sql } from '../../postgres/sql.ts'
import type { Usage } from './ask-model.ts'
import type { RunRow } from './run.ts'
import { addUsage, endCallStep, insertCallStep, insertModelStep, listSteps } from './steps.ts'
import type { BegunCall, EndedCall, ModelStep, StepRow } from './steps.ts'
import { recordFirstText, recordModel, saveThread, type Lease } from './store.ts'

/**
 * Where what is done to answer is written down, before anything follows from it. Its methods reject with RunLost where the
 * run is not this node's any more.
 */
export interface Journal {
  /** What was written before, by any node, in its order. */
  steps(): Promise<StepRow[]>
  /** What answers. */
  model(provider: string, model: string): Promise<void>
  /** Text has begun to come. Nothing depends on it. */
  firstText(): void
  /** A request came to nothing, and has its price. Nothing depends on it. */
  wasted(usage: Usage): void
  /** A model answered: before any of its calls is made. */
  answered(step: ModelStep): Promise<void>
  /** A call is about to be made. */
  called(call: BegunCall): Promise<void>
  /** What a call came to. */
  ended(call: EndedCall): Promise<void>
  /** What a provider that keeps conversations itself calls this one. */
  thread(thread: string): Promise<void>
}

interface StoredJournalOptions {
  sql: Sql
  run: RunRow
  lease: Lease
  clock: Clock
  log: Log
}

/** A run's journal in the database, for any node to go on with. Keeps the counts of the run up to date, for its log line. */
export class StoredJournal implements Journal {
  readonly #sql: Sql
  readonly #run: RunRow
  readonly #lease: Lease
  readonly #clock: Clock
  readonly #log: Log

  constructor({ sql, run, lease, clock, log }: StoredJournalOptions) {
    this.#sql = sql
    this.#run = run
    this.#lease = lease
    this.#clock = clock
    this.#log = log
  }

  steps(): Promise<StepRow[]> {
    return listSteps(this.#sql, this.#run.id)
  }

  async model(provider: string, model: string): Promise<void> {
    await recordModel(this.#sql, this.#lease, provider, model)
    Object.assign(this.#run, { provider, model })
  }

  firstText(): void {
    if (this.#run.first_text_at !== null) return
    this.#run.first_text_at = new Date(this.#clock.now())
    // A lost lease is noticed elsewhere.
    recordFirstText(this.#sql, this.#lease).catch((error: unknown) =>
      this.#log.debug({ error }, 'The first text was not noted'),
    )
  }

  wasted(usage: Usage): void {
    addUsage(this.#sql, this.#lease, usage).catch((error: unknown) =>
      this.#log.debug({ error }, 'Tokens were not counted'),
    )
  }

  async answered(step: ModelStep): Promise<void> {
    await insertModelStep(this.#sql, this.#lease, step)
    const { usage, body } = step
    this.#run.tokens_in += usage.in
    this.#run.tokens_out += usage.out
    if (body.reason === 'calls' || body.reason === 'pause') this.#run.rounds++
  }

  async called(call: BegunCall): Promise<void> {
    await insertCallStep(this.#sql, this.#lease, call)
    this.#run.calls++
  }

  ended(call: EndedCall): Promise<void> {
    return endCallStep(this.#sql, this.#lease, call)
  }

  thread(thread: string): Promise<void> {
    return saveThread(this.#sql, this.#run, thread)
  }
}
