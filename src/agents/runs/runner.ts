import { randomUUID } from 'node:crypto'
import { every } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Sql } from '../../postgres/sql.ts'
import { answer, type AnsweringParts, type Outcome, type Progress } from './answering/answering.ts'
import type { Answer, Reply, RunHost, RunWatcher } from './host.ts'
import { StoredJournal } from './journal.ts'
import { Leases } from './leases.ts'
import { findOverLimit, type RunLimits } from './answering/limits.ts'
import { RunEnds, RunLost, type RunRow } from './run.ts'
import * as leases from './lease-store.ts'
import * as store from './store.ts'

export interface RunnerSettings {
  /** False: this node works on no runs. */
  isOn: boolean
  /** Concurrent runs of this node. */
  atOnce: number
  /** The time limit of a run, without its waits for approval. */
  runMs: number
  limits: RunLimits
}

export interface RunnerOptions extends AnsweringParts {
  sql: Sql
  host: RunHost
  watcher: RunWatcher
  settings: RunnerSettings
  /** Called at each end, for metrics. */
  onEnd: (run: RunRow, end: EndedRun) => void
  onLeaseLost: () => void
}

export interface EndedRun {
  state: RunRow['state']
  error: RunRow['error']
  requestId: string | null
}

/** A run is given up after this many lost leases, because it may crash its nodes. */
const attemptLimit = 5

/** The pause after a bug or a database error, before any node tries again. A guess. */
const faultPauseMs = 2_000

/** How often the typing indicator is repeated; clients show it for five seconds. */
const typingMs = 2_000

/** The most waiting runs whose agents are shown typing. A guess, far above what users look at. */
const shownLimit = 200

/** How often a run is checked for whether it may still be answered. */
const checkMs = 5_000

/** A run being worked on. */
interface Active {
  run: RunRow
  lease: leases.Lease
  beganMs: number
  aborting: AbortController
  progress: Progress
  done: Promise<void>
}

/** This node has aborted the run. */
class OutOfTime extends Error {}
class Draining extends Error {}

/**
 * Works on agents' runs: claims due ones, up to the node's limit, and answers. Woken by this node's commits and other
 * nodes (`wake`), and once a second by `look`. It cannot be overloaded: runs wait in the database.
 *
 * If the process dies, another node, or this one after its restart, continues its runs when their leases have expired.
 */
export class Runner {
  readonly #options: RunnerOptions
  readonly #node = randomUUID()
  readonly #leases: Leases
  readonly #active = new Map<number, Active>()
  #claiming: Promise<void> | null = null
  #isAwake = false
  #shownAtMs = Number.NEGATIVE_INFINITY
  #isStopping = false

  constructor(options: RunnerOptions) {
    this.#options = options
    const { sql, clock, log } = options
    this.#leases = new Leases({ sql, node: this.#node, clock, log })
  }

  /** Looks for runs to begin. */
  wake(): void {
    if (!this.#options.settings.isOn || this.#isStopping) return
    this.#isAwake = true
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null
      // Woken since its last look, while it was about to stop.
      if (this.#isAwake) this.wake()
    })
  }

  /** Checks runs that may have been cancelled. Never rejects. */
  async review(runs: readonly number[]): Promise<void> {
    const own = runs.filter(run => this.#active.has(run))
    if (own.length > 0) await this.#leases.renew(own)
  }

  /** Checks the runs of an app, as `review`. */
  async reviewApp(app: number): Promise<void> {
    await this.review(Array.from(this.#active.values()).flatMap(({ run }) => (run.app_id === app ? [run.id] : [])))
  }

  /** Finds changes that were not announced, and wakes; call it once a second. */
  async poll(): Promise<void> {
    for (const run of await store.expireRuns(this.#options.sql)) this.reportEnd(run)
    await this.#merge()
    await this.#showWaiting()
    this.wake()
  }

  /** Reports a run that has ended while no node worked on it. */
  reportEnd(run: RunRow): void {
    this.#notifyWatchers(run, { state: run.state, error: null, requestId: null })
  }

  /**
   * Claims no more runs, and resolves when the current ones have ended. Runs that last longer than most of the deadline
   * are released to other nodes.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.#isStopping = true
    const cut = this.#options.clock.after(deadlineMs * 0.8, () => {
      for (const { aborting } of this.#active.values()) aborting.abort(new Draining())
    })
    await this.#claiming
    await Promise.all(Array.from(this.#active.values(), ({ done }) => done))
    cut()
    this.#leases.stop()
  }

  async #claim(): Promise<void> {
    const { sql, settings, log } = this.#options
    try {
      while (this.#isAwake && !this.#isStopping) {
        this.#isAwake = false
        await this.#merge()
        while (this.#active.size < settings.atOnce && !this.#isStopping) {
          const claimedMs = performance.now()
          const run = await leases.claimRun(sql, this.#node)
          if (run === null) break
          this.#begin(run, claimedMs)
        }
      }
    } catch (error) {
      // Waiting runs stay in the database: the next look finds them.
      this.#isAwake = false
      log.warn({ error }, 'Runs could not be claimed')
    }
  }

  async #merge(): Promise<void> {
    for (const run of await store.mergeSurplus(this.#options.sql)) this.reportEnd(run)
  }

  /** Shows agents of waiting runs as typing, too. */
  async #showWaiting(): Promise<void> {
    const { sql, settings, host, watcher } = this.#options
    if (!settings.isOn || performance.now() - this.#shownAtMs < typingMs) return
    this.#shownAtMs = performance.now()
    for (const run of await store.listWaiting(sql, typingMs / 1000, shownLimit)) {
      host.type(run)
      watcher.onWaiting(run)
    }
  }

  #begin(run: RunRow, claimedMs: number): void {
    const active: Active = {
      run,
      lease: { run: run.id, node: this.#node },
      beganMs: claimedMs,
      aborting: new AbortController(),
      progress: { text: '' },
      done: Promise.resolve(),
    }
    this.#active.set(run.id, active)
    this.#leases.keep(run.id, claimedMs, (lost, found) => {
      if (found?.state !== 'cancelled') this.#options.onLeaseLost()
      active.aborting.abort(lost)
    })
    active.done = this.#work(active).finally(() => {
      this.#leases.drop(run.id)
      this.#active.delete(run.id)
      this.wake()
    })
  }

  /** Never rejects. */
  async #work(active: Active): Promise<void> {
    const { run, aborting } = active
    const { settings, clock, host, watcher, log } = this.#options
    const left = Math.max(settings.runMs - run.busy_ms, 0)
    const cancel = clock.after(left, () => aborting.abort(new OutOfTime()))
    const over = new AbortController()
    every(clock, typingMs, over.signal, () => host.type(run))
    every(clock, checkMs, over.signal, () => this.#check(active))
    try {
      host.type(run)
      watcher.onChange(run, { state: 'running' })
      await this.#answerTraced(active)
    } catch (error) {
      await this.#endUnanswered(active, aborting.signal.aborted ? aborting.signal.reason : error).catch(
        (bug: unknown) => {
          log.warn({ run: run.id, error: bug }, 'A run could not be ended; its lease runs out')
        },
      )
    } finally {
      cancel()
      over.abort()
      watcher.onLeave(run)
    }
  }

  async #answerTraced(active: Active): Promise<void> {
    const { tracer } = this.#options
    if (tracer === null) return this.#answer(active)
    const { id, app_id, attempts } = active.run
    const facts = {
      'gen_ai.operation.name': 'invoke_agent',
      'parley.run': id,
      'parley.app': app_id,
      'parley.attempt': attempts,
    }
    const span = tracer.start('invoke_agent', { kind: 'internal', facts })
    let error: string | undefined
    try {
      await tracer.within(span, () => this.#answer(active))
    } catch (failure) {
      error = failure instanceof RunEnds ? (failure.error ?? failure.state) : 'broken off'
      throw failure
    } finally {
      span.end(error)
    }
  }

  async #answer(active: Active): Promise<void> {
    const { run, lease } = active
    const { sql, settings, log } = this.#options
    if (run.attempts >= attemptLimit) {
      log.error(factsOf(run), 'A run was interrupted too often; it is given up')
      throw new RunEnds('failed', 'interrupted', true)
    }
    const over = await findOverLimit(sql, run, settings.limits)
    if (over !== null) throw new RunEnds('failed', over.error, over.isTold)
    const outcome = await this.#converse(active)
    if (outcome.state === 'waiting') {
      await leases.pauseRun(sql, lease, this.#busyMs(active))
      this.#options.watcher.onChange(run, { state: 'waiting' })
      return
    }
    await this.#post(active, { state: 'done', error: null, ...outcome.answer }, outcome.requestId)
  }

  #converse({ run, lease, aborting: { signal }, progress }: Active): Promise<Outcome> {
    const { sql, host, watcher, clock, log } = this.#options
    return answer({
      ...this.#options,
      id: String(run.id),
      journal: new StoredJournal({ sql, run, lease, clock, log }),
      signal,
      progress,
      brief: () => host.brief(run, signal),
      approvals: () => host.approvals(run),
      ask: question => host.ask(run, lease, question),
      onChange: change => watcher.onChange(run, change),
      onText: (text, isFirst) => watcher.onText(run, text, isFirst),
    })
  }

  /** Ends a run that was not answered. */
  async #endUnanswered(active: Active, reason: unknown): Promise<void> {
    const { run, lease } = active
    const { sql, log } = this.#options
    if (reason instanceof RunLost) return await this.#endCancelled(active)
    const busyMs = this.#busyMs(active)
    if (reason instanceof Draining) return await leases.releaseRun(sql, lease, { busyMs })
    const end = reason instanceof OutOfTime ? new RunEnds('failed', 'timeout', true) : reason
    if (!(end instanceof RunEnds)) {
      log.warn({ ...factsOf(run), error: end }, 'A run failed; it is tried again')
      return await leases.releaseRun(sql, lease, { delayMs: faultPauseMs, isFault: true, busyMs })
    }
    const { state, error, isTold } = end
    if (isTold) {
      try {
        const reply = { state, error, text: null, finish: null, files: [] }
        return await this.#post(active, reply, null)
      } catch (refusal) {
        if (refusal instanceof RunLost) return await this.#endCancelled(active)
        if (!(refusal instanceof RunEnds)) throw refusal
        // The agent may not write there, or there is no one to tell.
      }
    }
    await this.#endQuietly(active, end)
  }

  async #endQuietly(active: Active, { state, error }: RunEnds): Promise<void> {
    const { run, lease } = active
    const busyMs = this.#busyMs(active)
    if (await leases.endQuietly(this.#options.sql, lease, { state, error, busyMs }))
      this.#notifyWatchers(run, { state, error, requestId: null })
  }

  async #post(active: Active, answer: Omit<Answer, 'busyMs'>, requestId: string | null): Promise<void> {
    const { run, lease } = active
    try {
      const reply = await this.#options.host.post(run, lease, { ...answer, busyMs: this.#busyMs(active) })
      const { state, error } = answer
      this.#notifyWatchers(run, { state, error, requestId }, reply)
    } catch (error) {
      if (!(error instanceof RunEnds) || answer.state !== 'done') throw error
      await this.#endQuietly(active, error)
    }
  }

  /** Handles a lost run: where a user has cancelled it and keeps the text, posts that. */
  async #endCancelled(active: Active): Promise<void> {
    const { run, progress } = active
    const found = await store.findRun(this.#options.sql, run.id)
    if (found?.state !== 'cancelled') return
    const state = 'cancelled'
    const { text } = progress
    if (!found.keeps_text || text.trim() === '')
      return this.#notifyWatchers(run, { state, error: null, requestId: null })
    try {
      await this.#post(active, { state, error: null, text, finish: state, files: [] }, null)
    } catch (error) {
      this.#options.log.warn({ run: run.id, error }, 'What a cancelled run had written could not be kept')
    }
  }

  async #check(active: Active): Promise<void> {
    try {
      await this.#options.host.check(active.run)
    } catch (error) {
      if (error instanceof RunEnds) active.aborting.abort(error)
    }
  }

  #busyMs({ beganMs }: Active): number {
    return Math.round(performance.now() - beganMs)
  }

  #notifyWatchers(run: RunRow, end: EndedRun, reply?: Reply): void {
    const { watcher, onEnd } = this.#options
    watcher.onChange(run, { state: end.state, ...(reply && { reply }), error: end.error })
    onEnd(run, end)
  }
}

/** What a line of the log says of a run that did not end as it should. */
function factsOf({ id, agent_id: agent, app_id: app, attempts }: RunRow): Record<string, unknown> {
  return { run: id, agent, app, attempts }
}

/** Logs a finished run: its outcome and cost, without any content. */
export function logEnd(log: Log, run: RunRow, { state, error, requestId, ms }: EndedRun & { ms: number }): void {
  const { id, agent_id: agent, app_id: app, provider, model, attempts, rounds, calls, tokens_in, tokens_out } = run
  const facts = { run: id, agent, app, provider, model, attempts, rounds, calls, tokens_in, tokens_out }
  log.info({ ...facts, state, error, requestId, ms }, 'A run has ended')
}
