import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Sql } from '../../postgres/sql.ts'
import type { Usage } from '../providers/provider.ts'
import type { RunRow } from './run.ts'
import { addUsage, endCallStep, insertCallStep, insertModelStep, listSteps } from './steps.ts'
import type { BegunCall, EndedCall, ModelStep, StepRow } from './steps.ts'
import { recordFirstText, recordModel, type Lease } from './lease-store.ts'
import { saveThread } from './store.ts'

/**
 * Records the steps of a run before anything follows from them. Methods reject with RunLost where the run is not this
 * node's any more.
 */
export interface Journal {
  /** The recorded steps, of any node, in order. */
  steps(): Promise<StepRow[]>
  /** Records the provider and model. */
  model(provider: string, model: string): Promise<void>
  /** Records when the first text arrived; best effort. */
  firstText(): void
  /** Counts the tokens of a failed request; best effort. */
  wasted(usage: Usage): void
  /** Records a model's answer, before any of its calls is made. */
  answered(step: ModelStep): Promise<void>
  /** Records that a call is about to be made. */
  called(call: BegunCall): Promise<void>
  /** Records the result of a call. */
  ended(call: EndedCall): Promise<void>
  /** Records the id of the conversation at a provider that keeps conversations. */
  thread(thread: string): Promise<void>
}

interface StoredJournalOptions {
  sql: Sql
  run: RunRow
  lease: Lease
  clock: Clock
  log: Log
}

/** A run's journal in the database, for any node to continue from. Maintains the run's counts for its log line. */
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
    // Leases notices a lost lease.
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
