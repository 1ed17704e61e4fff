import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Sql } from '../../postgres/sql.ts'
import type { Usage } from '../providers/provider.ts'
import type { RunRow } from './run.ts'
import { listSteps, type BegunCall, type CallBody, type EndedCall, type ModelStep, type StepRow } from './steps.ts'
import { isHeld, requireHeld, type Lease } from './lease-store.ts'
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
  readonly #options: StoredJournalOptions

  constructor(options: StoredJournalOptions) {
    this.#options = options
  }

  steps(): Promise<StepRow[]> {
    const { sql, run } = this.#options
    return listSteps(sql, run.id)
  }

  async model(provider: string, model: string): Promise<void> {
    const { sql, run, lease } = this.#options
    await requireHeld(sql`
      update agent_runs set provider = ${provider}, model = ${model} where ${isHeld(sql, lease)}`)
    Object.assign(run, { provider, model })
  }

  firstText(): void {
    const { sql, run, lease, clock, log } = this.#options
    if (run.first_text_at !== null) return
    run.first_text_at = new Date(clock.now())
    // Leases notices a lost lease.
    sql`update agent_runs set first_text_at = now() where ${isHeld(sql, lease)} and first_text_at is null`.catch(
      (error: unknown) => log.debug({ error }, 'The first text was not noted'),
    )
  }

  wasted(usage: Usage): void {
    const { sql, run, log } = this.#options
    sql`
      update agent_runs set tokens_in = tokens_in + ${usage.in}, tokens_out = tokens_out + ${usage.out},
        tokens_cached = tokens_cached + ${usage.cached} where id = ${run.id}`.catch((error: unknown) =>
      log.debug({ error }, 'Tokens were not counted'),
    )
  }

  async answered({ n, body, usage, beganAt }: ModelStep): Promise<void> {
    const { sql, run, lease } = this.#options
    const isRound = body.reason === 'calls' || body.reason === 'pause'
    await requireHeld(sql`
      with held as (
        update agent_runs set tokens_in = tokens_in + ${usage.in}, tokens_out = tokens_out + ${usage.out},
          tokens_cached = tokens_cached + ${usage.cached}, rounds = rounds + ${isRound ? 1 : 0}
        where ${isHeld(sql, lease)} returning id
      )
      insert into agent_steps (run_id, n, kind, body, outcome, began_at, ended_at)
      select id, ${n}, 'model', ${JSON.stringify(body)}::text::json, 'ok', ${beganAt}, now() from held`)
    run.tokens_in += usage.in
    run.tokens_out += usage.out
    if (isRound) run.rounds++
  }

  async called({ n, kind, name, callId, args }: BegunCall): Promise<void> {
    const { sql, run, lease } = this.#options
    const body: CallBody = { arguments: args }
    await requireHeld(sql`
      with held as (
        update agent_runs set calls = calls + 1 where ${isHeld(sql, lease)} returning id
      )
      insert into agent_steps (run_id, n, kind, name, call_id, body, began_at)
      select id, ${n}, ${kind}, ${name}, ${callId}, ${JSON.stringify(body)}::text::json, now() from held
      on conflict (run_id, n) do update set began_at = excluded.began_at`)
    run.calls++
  }

  async ended({ n, body, outcome }: EndedCall): Promise<void> {
    const { sql, lease } = this.#options
    await requireHeld(sql`
      update agent_steps set body = ${JSON.stringify(body)}::text::json, outcome = ${outcome}, ended_at = now()
      where n = ${n} and run_id = (select id from agent_runs where ${isHeld(sql, lease)})`)
  }

  thread(thread: string): Promise<void> {
    const { sql, run } = this.#options
    return saveThread(sql, run, thread)
  }
}
