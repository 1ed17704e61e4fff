import type { Usage } from '../../../agents/providers/provider.ts'
import type { RunRow, RunState } from '../../../agents/runs/run.ts'
import type { EndedRun } from '../../../agents/runs/runner.ts'
import type { Metrics } from '../../../http/about/metrics.ts'
import type { Sql } from '../../../postgres/sql.ts'

/** Seconds from a trigger to its reply, and to the first text. A guess: from a cache's answer to the limit of a run. */
const seconds = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300]

const noFiles = { pending: 0, indexed: 0, skipped: 0, failed: 0 }

export type RunCounts = ReturnType<typeof countRuns>

/** The metrics of runs and of knowledge. No label contains an id or a name. */
export function countRuns(metrics: Metrics) {
  const counted = metrics.counted.bind(metrics)
  const runs = counted('parley_agent_runs_total', 'Runs of agents that ended on this node.', ['state'])
  const used = counted('parley_agent_tokens_total', 'Tokens of models.', ['provider', 'kind'])
  const errors = counted('parley_agent_provider_errors_total', 'Requests that providers failed.', ['provider', 'code'])
  const retries = counted('parley_agent_retries_total', 'Requests to providers that were made again.', [])
  const calls = counted('parley_agent_calls_total', 'Calls of tools.', ['kind', 'outcome'])
  const leases = counted('parley_agent_leases_lost_total', 'Runs that this node lost.', [])
  const approvals = counted('parley_agent_approvals_total', 'Decisions about calls.', ['state'])
  const replySeconds = metrics.histogram('parley_agent_seconds', 'Time from a question to its reply.', seconds)
  const firstText = metrics.histogram('parley_agent_first_text_seconds', 'Time to the first text.', seconds)
  let open: Record<string, number> = {}
  let oldestSeconds = 0
  let files: Record<string, number> = noFiles
  metrics.gauge('parley_agent_runs_open', 'Runs of agents that are open, on all nodes.', () => open, 'state')
  metrics.gauge('parley_agent_oldest_seconds', 'How long the oldest run has waited.', () => oldestSeconds)
  metrics.gauge('parley_knowledge_files', 'Files that agents search, on all nodes.', () => files, 'state')
  /** Ended runs of this node and used tokens, since its start. */
  const totals = { done: 0, failed: 0, input: 0, output: 0 }
  return {
    totals,

    /** The number of open runs, of all nodes, at the last count. */
    get open(): number {
      return Object.values(open).reduce((sum, count) => sum + count, 0)
    },

    tokens(provider: string, { in: input, out, cached }: Usage): void {
      totals.input += input
      totals.output += out
      for (const [kind, count] of Object.entries({ input, output: out, cached })) {
        if (count > 0) used.inc({ provider, kind }, count)
      }
    },

    providerError: (provider: string, code: string) => errors.inc({ provider, code }),
    retry: () => retries.inc(),
    call: (kind: string, outcome: string) => calls.inc({ kind, outcome }),
    leaseLost: () => leases.inc(),
    decided: (state: string) => approvals.inc({ state }),

    ended(run: RunRow, { state }: EndedRun, ms: number): void {
      runs.inc({ state })
      if (state === 'done' || state === 'failed') {
        totals[state]++
        replySeconds.observe(ms / 1000)
      }
      if (run.first_text_at !== null) {
        firstText.observe((run.first_text_at.getTime() - run.created_at.getTime()) / 1000)
      }
    },

    /** Counts open runs, which is too costly for each request. Served by agent_runs_open. */
    async count(sql: Sql): Promise<void> {
      const rows = await sql<{ state: RunState; count: number; oldest: number | null }[]>`
        select state, count(*) as count, max(extract(epoch from now() - created_at))::float as oldest
        from agent_runs where state in ('queued', 'running', 'waiting') group by state`
      open = { queued: 0, running: 0, waiting: 0, ...Object.fromEntries(rows.map(row => [row.state, row.count])) }
      oldestSeconds = Math.round(rows.find(({ state }) => state === 'queued')?.oldest ?? 0)
      const counted = await sql<{ state: string; count: number }[]>`
        select state, count(*) as count from knowledge_files group by state`
      files = { ...noFiles, ...Object.fromEntries(counted.map(row => [row.state, row.count])) }
    },
  }
}
