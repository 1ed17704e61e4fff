import type { AnsweringCounts } from '../../../agents/runs/answering/answering.ts'
import type { Usage } from '../../../agents/providers/provider.ts'
import type { RunRow, RunState } from '../../../agents/runs/run.ts'
import type { EndedRun } from '../../../agents/runs/runner.ts'
import type { Metrics } from '../../../http/about/metrics.ts'
import type { Sql } from '../../../postgres/sql.ts'

/** Seconds from a trigger to its reply, and to the first text. A guess: from a cache's answer to the limit of a run. */
const seconds = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300]

const noFiles = { pending: 0, indexed: 0, skipped: 0, failed: 0 }

/** The metrics of runs and of knowledge. No label contains an id or a name. */
export class RunCounts implements AnsweringCounts {
  readonly #runs
  readonly #seconds
  readonly #firstText
  readonly #tokens
  readonly #errors
  readonly #retries
  readonly #calls
  readonly #leases
  readonly #approvals
  /** Ended runs of this node and used tokens, since its start. */
  readonly totals = { done: 0, failed: 0, input: 0, output: 0 }
  /** Open runs of all nodes at the last count. */
  #open: Record<string, number> = {}
  #oldestSeconds = 0
  #files: Record<string, number> = noFiles

  constructor(metrics: Metrics) {
    const counted = metrics.counted.bind(metrics)
    this.#runs = counted('parley_agent_runs_total', 'Runs of agents that ended on this node.', ['state'])
    this.#tokens = counted('parley_agent_tokens_total', 'Tokens of models.', ['provider', 'kind'])
    this.#errors = counted('parley_agent_provider_errors_total', 'Requests that providers failed.', [
      'provider',
      'code',
    ])
    this.#retries = counted('parley_agent_retries_total', 'Requests to providers that were made again.', [])
    this.#calls = counted('parley_agent_calls_total', 'Calls of tools.', ['kind', 'outcome'])
    this.#leases = counted('parley_agent_leases_lost_total', 'Runs that this node lost.', [])
    this.#approvals = counted('parley_agent_approvals_total', 'Decisions about calls.', ['state'])
    this.#seconds = metrics.histogram('parley_agent_seconds', 'Time from a question to its reply.', seconds)
    this.#firstText = metrics.histogram('parley_agent_first_text_seconds', 'Time to the first text.', seconds)
    metrics.gauge('parley_agent_runs_open', 'Runs of agents that are open, on all nodes.', () => this.#open, 'state')
    metrics.gauge('parley_agent_oldest_seconds', 'How long the oldest run has waited.', () => this.#oldestSeconds)
    metrics.gauge('parley_knowledge_files', 'Files that agents search, on all nodes.', () => this.#files, 'state')
  }

  /** The number of open runs, of all nodes, at the last count. */
  get open(): number {
    return Object.values(this.#open).reduce((sum, count) => sum + count, 0)
  }

  tokens(provider: string, { in: input, out, cached }: Usage): void {
    this.totals.input += input
    this.totals.output += out
    for (const [kind, count] of Object.entries({ input, output: out, cached })) {
      if (count > 0) this.#tokens.inc({ provider, kind }, count)
    }
  }

  providerError(provider: string, code: string): void {
    this.#errors.inc({ provider, code })
  }

  retry(): void {
    this.#retries.inc()
  }

  call(kind: string, outcome: string): void {
    this.#calls.inc({ kind, outcome })
  }

  leaseLost(): void {
    this.#leases.inc()
  }

  decided(state: string): void {
    this.#approvals.inc({ state })
  }

  ended(run: RunRow, { state }: EndedRun, ms: number): void {
    this.#runs.inc({ state })
    if (state === 'done' || state === 'failed') this.totals[state]++
    if (state === 'done' || state === 'failed') this.#seconds.observe(ms / 1000)
    if (run.first_text_at !== null) {
      this.#firstText.observe((run.first_text_at.getTime() - run.created_at.getTime()) / 1000)
    }
  }

  /** Counts open runs, which is too costly for each request. Served by agent_runs_open. */
  async count(sql: Sql): Promise<void> {
    const rows = await sql<{ state: RunState; count: number; oldest: number | null }[]>`
      select state, count(*) as count, max(extract(epoch from now() - created_at))::float as oldest
      from agent_runs where state in ('queued', 'running', 'waiting') group by state`
    this.#open = { queued: 0, running: 0, waiting: 0, ...Object.fromEntries(rows.map(row => [row.state, row.count])) }
    this.#oldestSeconds = Math.round(rows.find(({ state }) => state === 'queued')?.oldest ?? 0)
    const files = await sql<{ state: string; count: number }[]>`
      select state, count(*) as count from knowledge_files group by state`
    this.#files = { ...noFiles, ...Object.fromEntries(files.map(row => [row.state, row.count])) }
  }
}
