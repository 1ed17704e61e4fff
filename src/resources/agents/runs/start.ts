import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { GlobalCommands } from '../../../engine/global/global-commands.ts'
import type { SharedLog } from '../../../log/shared-log.ts'
import type { Bus } from '../../../cluster/bus.ts'
import type { RunWatcher } from '../../../agents/runs/host.ts'
import { logEnd, Runner, type RunnerSettings } from '../../../agents/runs/runner.ts'
import { emptyEnded } from '../../../agents/runs/steps.ts'
import { isAnyOpen, removeEnded } from '../../../agents/runs/store.ts'
import { datesOf } from '../../../lib/clock.ts'
import { inPortions } from '../../../jobs/portions.ts'
import type { Job } from '../../../jobs/jobs.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { removeContext } from '../../items/writing/context-store.ts'
import { Approvals } from '../approvals/approvals.ts'
import { isAnyUnshown } from '../approvals/store.ts'
import type { AgentControl } from '../control.ts'
import { testAgent } from '../test-chat/test-chat.ts'
import type { AnsweringParts } from '../../../agents/runs/answering/answering.ts'
import type { RunCounts } from './counts.ts'
import { AppHost, type HostSettings, type HostOptions } from './host.ts'
import { cancelRun } from './list.ts'
import type { Triggers } from './triggers.ts'

export interface RunSettings extends RunnerSettings, HostSettings {
  /** Days for which ended runs are kept. */
  keepDays: number
}

interface RunnerParts extends Omit<HostOptions, 'now'>, Pick<AnsweringParts, 'tracer' | 'clock'> {
  globalCommands: GlobalCommands
  sharedLog: SharedLog
  triggers: Triggers
  watcher: RunWatcher
  counts: RunCounts
  bus: Bus
  settings: RunSettings
}

/** Messages between nodes about runs: new ones, or changed ones. */
const channel = 'agent-runs'

const RunNews = z.object({
  from: z.string(),
  /** Runs that may have been cancelled; absent: there may be something to begin. */
  review: z.array(z.int()).optional(),
  /** An app whose runs were written: some may be new, some cancelled. */
  app: z.int().optional(),
})
type RunNews = z.output<typeof RunNews>

/** Starts the runner, which this node's commits wake, and other nodes' through the bus. */
export function startRunner(parts: RunnerParts) {
  const { sql, apps, triggers, settings, clock, log, counts, bus, providers } = parts
  const now = datesOf(clock)
  const node = randomUUID()
  const tellNodes = (news: Omit<RunNews, 'from'>) => bus.publish(channel, { from: node, ...news } satisfies RunNews)
  const answering = {
    tracer: parts.tracer,
    clock,
    log,
    count: counts,
    conceal: (text: string) => providers.conceal(text),
  }
  const runner = new Runner({
    ...answering,
    sql,
    host: new AppHost({ ...parts, now }),
    watcher: parts.watcher,
    settings,
    onEnd(run, end) {
      const ms = clock.now() - run.created_at.getTime()
      counts.ended(run, end, ms)
      logEnd(log, run, { ...end, ms })
    },
    onLeaseLost: () => counts.leaseLost(),
  })
  const approvals = new Approvals({
    ...parts,
    now,
    onResumed() {
      runner.wake()
      tellNodes({})
    },
    onDecided: approval => counts.decided(approval.state),
  })
  apps.onWritten(app => {
    if (!triggers.take(app)) return
    runner.wake()
    void runner.reviewApp(app)
    // The rest is left to the next poll.
    approvals.settle().catch((error: unknown) => log.warn({ error }, 'Approvals could not be settled'))
    tellNodes({ app })
  })
  bus.subscribe(channel, RunNews.parse, ({ from, review, app }) => {
    if (from === node) return
    if (review !== undefined) return void runner.review(review)
    runner.wake()
    if (app !== undefined) void runner.reviewApp(app)
  })
  const control: AgentControl = {
    wake() {
      runner.wake()
      tellNodes({})
    },
    async cancel(id, keepsText) {
      const run = await cancelRun(sql, id, keepsText)
      if (run === null) return
      void runner.review([id])
      tellNodes({ review: [id] })
      // A node that works on the run reports its end itself.
      if (run.state_before !== 'running') runner.reportEnd(run)
      if (run.state_before === 'waiting') await approvals.settle()
    },
    settle: () => approvals.settle(),
    test: (question, watcher, signal) => testAgent(question, { ...parts, ...answering }, watcher, signal),
    providers: () => providers.list(),
  }
  return { runner, approvals, control }
}

/** The context of an item is kept for retries as long as unused blobs are. */
const contextDays = 7

/** Rows per delete, few enough that requests do not wait for it. A guess. */
const batchSize = 500

interface JobParts {
  runner: Runner
  approvals: Approvals
  counts: RunCounts
  sql: Sql
  settings: Pick<RunSettings, 'keepDays' | 'isTraced'>
  past: () => Promise<Date>
}

/** The background jobs of runs. */
export function agentRunJobs({ runner, approvals, counts, sql, settings, past }: JobParts): Job[] {
  const look = async () => {
    await approvals.settle()
    await runner.poll()
    // Leases expire, and waiting runs become due, without a commit.
    return false
  }
  const forget = async (signal: AbortSignal) => {
    const before = new Date((await past()).getTime() - settings.keepDays * 86_400_000)
    const removed = await inPortions(batchSize, signal, () => removeEnded(sql, before, batchSize))
    const old = new Date((await past()).getTime() - contextDays * 86_400_000)
    await inPortions(batchSize, signal, () => removeContext(sql, old, batchSize))
    if (!settings.isTraced) await inPortions(batchSize, signal, () => emptyEnded(sql, batchSize))
    return removed
  }
  return [
    { name: 'look for runs of agents', periodMs: 1_000, dueWhere: `${isAnyOpen} or ${isAnyUnshown}`, run: look },
    { name: 'count runs of agents', periodMs: 15_000, run: () => counts.count(sql) },
    { name: 'forget runs of agents', periodMs: 60_000, run: forget },
  ]
}
