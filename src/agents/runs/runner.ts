import { randomUUID } from 'node:crypto'
import type { Log } from '../../lib/log.ts'
import type { Sql } from '../../postgres/sql.ts'
import { answer, type AnsweringParts, type Outcome, type Progress } from './answering.ts'
import type { Answer, Reply, RunHost, RunWatcher } from './host.ts'
import { StoredJournal } from './journal.ts'
import { Leases } from './leases.ts'
import { findOverLimit, type RunLimits } from './limits.ts'
import { RunEnds, RunLost, type RunRow } from './run.ts'
import * as store from './store.ts'

export interface RunnerSettings {
  /** False: this node works on no runs. */
  isOn: boolean
  /** Runs that this node works on at a time. */
  atOnce: number
  /** Time of a run, waiting for approval apart. */
  runMs: number
  limits: RunLimits
}

export interface RunnerOptions extends AnsweringParts {
  sql: Sql
  host: RunHost
  watcher: RunWatcher
  settings: RunnerSettings
  /** By a clock that never goes back. */
  nowMs: () => number
  /** Told of each end, for metrics. */
  onEnd: (run: RunRow, end: EndedRun) => void
  onLeaseLost: () => void
}

export interface EndedRun {
  state: RunRow['state']
  error: RunRow['error']
  requestId: string | null
}

/** A run is given up after this many lost leases: one that kills its node must not kill all. */
const mostAttempts = 5

/** After a bug or a fault of the database, before any node tries again. A guess. */
const faultPauseMs = 2_000

/** The agent is seen to type this often; clients show it for five seconds. */
const typingMs = 2_000

/** Waiting runs that are shown: their conversations have agents that type. A guess, far above what people look at. */
const mostShown = 200

/** Whether the run may still be answered is asked this often. */
const checkMs = 5_000

/** A run being worked on. */
interface Active {
  run: RunRow
  lease: store.Lease
  beganMs: number
  aborting: AbortController
  progress: Progress
  done: Promise<void>
}

/** Why the work on a run was broken off by this node. */
class OutOfTime extends Error {}
class Draining extends Error {}

/**
 * Works on the runs of agents: claims what is due, up to as many as this node may, and answers. Made by main, woken by
 * what this node commits and by other nodes (`wake`), and by a look once a second for what nobody told of. It cannot be
 * too busy: what is to be answered waits in the database.
 *
 * If the process dies, another node, or this one when it is back, goes on with its runs when their leases are over.
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
    const { sql, clock, log, nowMs } = options
    this.#leases = new Leases({ sql, node: this.#node, clock, log, nowMs })
  }

  /** Runs that this node works on. */
  get size(): number {
    return this.#active.size
  }

  /** There may be something to begin. */
  wake(): void {
    if (!this.#options.settings.isOn || this.#isStopping) return
    this.#isAwake = true
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null
      // Woken after its last look, and before anybody could know that it was the last.
      if (this.#isAwake) this.wake()
    })
  }

  /** Something may have happened to these runs, such as that a person has cancelled them. Never rejects. */
  async review(runs: readonly number[]): Promise<void> {
    const own = runs.filter(run => this.#active.has(run))
    if (own.length > 0) await this.#leases.renew(own)
  }

  /** The same for the runs of an app. */
  async reviewApp(app: number): Promise<void> {
    await this.review(Array.from(this.#active.values()).flatMap(({ run }) => (run.app_id === app ? [run.id] : [])))
  }

  /** Takes note of what happened without a word, and wakes. For a look once a second. */
  async look(): Promise<void> {
    for (const run of await store.expireRuns(this.#options.sql)) this.tellEnded(run)
    await this.#merge()
    await this.#showWaiting()
    this.wake()
  }

  /** Tells watchers and figures of a run that has ended while no node worked on it. */
  tellEnded(run: RunRow): void {
    this.#tell(run, { state: run.state, error: null, requestId: null })
  }

  /**
   * Claims nothing more, and resolves when what is under way has ended. What has not ended within most of the deadline
   * is put back for another node.
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
    const { sql, settings, nowMs, log } = this.#options
    try {
      while (this.#isAwake && !this.#isStopping) {
        this.#isAwake = false
        await this.#merge()
        while (this.#active.size < settings.atOnce && !this.#isStopping) {
          const claimedMs = nowMs()
          const run = await store.claimRun(sql, this.#node)
          if (run === null) break
          this.#begin(run, claimedMs)
        }
      }
    } catch (error) {
      // What waits stays where it is: the next look finds it.
      this.#isAwake = false
      log.warn({ error }, 'Runs could not be claimed')
    }
  }

  async #merge(): Promise<void> {
    for (const run of await store.mergeSurplus(this.#options.sql)) this.tellEnded(run)
  }

  /** An agent is seen to type for those who wait for their turn, too. */
  async #showWaiting(): Promise<void> {
    const { sql, nowMs, settings, host, watcher } = this.#options
    if (!settings.isOn || nowMs() - this.#shownAtMs < typingMs) return
    this.#shownAtMs = nowMs()
    for (const run of await store.listWaiting(sql, typingMs / 1000, mostShown)) {
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
      progress: { text: '', agentName: '' },
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
    const timers = [
      clock.after(left, () => aborting.abort(new OutOfTime())),
      repeat(clock, typingMs, () => host.type(run)),
      repeat(clock, checkMs, () => void this.#check(active)),
    ]
    try {
      host.type(run)
      watcher.onChange(run, { state: 'running' })
      await this.#answerTraced(active)
    } catch (error) {
      await this.#settle(active, aborting.signal.aborted ? aborting.signal.reason : error).catch((bug: unknown) => {
        log.warn({ run: run.id, error: bug }, 'A run could not be ended; its lease runs out')
      })
    } finally {
      for (const cancel of timers) cancel()
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
    const { sql, settings } = this.#options
    if (run.attempts >= mostAttempts) throw new RunEnds('failed', 'interrupted', true)
    const over = await findOverLimit(sql, run, settings.limits)
    if (over !== null) throw new RunEnds('failed', over.error, over.isTold)
    const outcome = await this.#converse(active)
    if (outcome.state === 'waiting') {
      await store.pauseRun(sql, lease, this.#busyMs(active))
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
  async #settle(active: Active, reason: unknown): Promise<void> {
    const { run, lease } = active
    const { sql, log } = this.#options
    if (reason instanceof RunLost) return await this.#endCancelled(active)
    const busyMs = this.#busyMs(active)
    if (reason instanceof Draining) return await store.releaseRun(sql, lease, { busyMs })
    const end = reason instanceof OutOfTime ? new RunEnds('failed', 'timeout', true) : reason
    if (!(end instanceof RunEnds)) {
      log.error({ run: run.id, error: end }, 'A run failed; it is tried again')
      return await store.releaseRun(sql, lease, { delayMs: faultPauseMs, isFault: true, busyMs })
    }
    const { state, error, isTold } = end
    if (isTold) {
      try {
        const reply = { state, error, text: null, finish: null, files: [] }
        return await this.#post(active, reply, null)
      } catch (refusal) {
        if (refusal instanceof RunLost) return await this.#endCancelled(active)
        if (!(refusal instanceof RunEnds)) throw refusal
        // Nobody can be told there: the agent may not write, or there is nobody.
      }
    }
    if (await store.endQuietly(sql, lease, { state, error, busyMs })) this.#tell(run, { state, error, requestId: null })
  }

  async #post(active: Active, answer: Omit<Answer, 'busyMs'>, requestId: string | null): Promise<void> {
    const { run, lease } = active
    try {
      const reply = await this.#options.host.post(run, lease, { ...answer, busyMs: this.#busyMs(active) })
      const { state, error } = answer
      this.#tell(run, { state, error, requestId }, reply)
    } catch (error) {
      if (!(error instanceof RunEnds) || answer.state !== 'done') throw error
      const { state, error: code } = error
      const busyMs = this.#busyMs(active)
      const isEnded = await store.endQuietly(this.#options.sql, lease, { state, error: code, busyMs })
      if (isEnded) this.#tell(run, { state, error: code, requestId: null })
    }
  }

  /** Of a run that was lost: whether a person has cancelled it, and wants what was written. */
  async #endCancelled(active: Active): Promise<void> {
    const { run, progress } = active
    const found = await store.findRun(this.#options.sql, run.id)
    if (found?.state !== 'cancelled') return
    if (found.keeps_text && progress.text.trim() !== '') return await this.#keep(active)
    this.#tell(run, { state: 'cancelled', error: null, requestId: null })
  }

  /** Posts what was written when the run was cancelled. */
  async #keep(active: Active): Promise<void> {
    const { run, lease, progress } = active
    const { host, log } = this.#options
    try {
      const reply = await host.post(run, lease, {
        state: 'cancelled',
        error: null,
        text: progress.text,
        finish: 'cancelled',
        files: [],
        busyMs: this.#busyMs(active),
      })
      this.#tell(run, { state: 'cancelled', error: null, requestId: null }, reply)
    } catch (error) {
      log.warn({ run: run.id, error }, 'What a cancelled run had written could not be kept')
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
    return Math.round(this.#options.nowMs() - beganMs)
  }

  #tell(run: RunRow, end: EndedRun, reply?: Reply): void {
    const { watcher, onEnd } = this.#options
    watcher.onChange(run, { state: end.state, ...(reply && { reply }), error: end.error })
    onEnd(run, end)
  }
}

/** Calls `run` every `periodMs` until the returned function is called. */
function repeat(clock: RunnerOptions['clock'], periodMs: number, run: () => void): () => void {
  let cancel = () => {}
  const next = () => {
    cancel = clock.after(periodMs, () => {
      next()
      run()
    })
  }
  next()
  return () => cancel()
}

/** The line at the end of a run: what it came to and cost, and nothing that was said. */
export function logEnd(log: Log, run: RunRow, { state, error, requestId, ms }: EndedRun & { ms: number }): void {
  const { id, agent_id: agent, app_id: app, provider, model, attempts, rounds, calls, tokens_in, tokens_out } = run
  const facts = { run: id, agent, app, provider, model, attempts, rounds, calls, tokens_in, tokens_out }
  log.info({ ...facts, state, error, requestId, ms }, 'A run has ended')
}
