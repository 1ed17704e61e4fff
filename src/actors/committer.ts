import { overloaded } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Tracer } from '../lib/tracer.ts'
import { violatedConstraint } from '../storage/sql.ts'
import { isUnavailable } from '../storage/unavailable.ts'
import { Answers } from './answers.ts'
import type { AppActor, Task } from './app-actor.ts'
import type { Job } from './decision.ts'
import { flush, flushApart, type FlushParts } from './flush.ts'
import { isAnswer, OutcomeUnknown, type CommitConnection } from './commit-connection.ts'
import { isKeyTaken } from './store.ts'
import { startCommitSpan } from './commit-span.ts'

export interface CommitterParts extends FlushParts {
  /** Connections for group commits. One is best on two cores: fewer, larger flushes win over more, smaller ones (measured). */
  groupConnections: CommitConnection[]
  /** Connections for what must not hold up the others: contended apps, and commands that load rows first. */
  apartConnections: CommitConnection[]
  /** Commands in one flush at most. */
  flushLimit: number
  /**
   * How long patient commands wait for a commit to share, and how long after one that was not theirs they expect the
   * next, in milliseconds.
   */
  sharingMs: number
  /** Called with the number of commands of each flush. */
  observe: (commands: number) => void
  /** Called when a flush has ended, with the time that it took. */
  observeTime: (ms: number) => void
  /** Null where commits are not traced. */
  tracer?: Tracer | null
  log: Log
}

type Kind = 'group' | 'apart'

/** A flush of so few costs about what one of fewer does: it is not made smaller. */
const leastPortion = 32

/** Apps whose commands load rows in one transaction: each waits for the slowest of them. A guess. */
const loadsAtOnce = 32

/**
 * Group commit over all actors: takes what has gathered in their mailboxes and runs one transaction for it, several
 * in flight, never two with the same app. A command that waits starts it; while all connections are busy commands gather,
 * so load makes flushes larger instead of more. `idle` resolves when nothing waits. If the process dies, open
 * transactions roll back: nothing of them was acknowledged.
 */
export class Committer {
  readonly #parts: CommitterParts
  readonly #ready = new Set<AppActor>()
  readonly #free: Record<Kind, CommitConnection[]>
  readonly #answers = new Answers()
  readonly #onIdle: (() => void)[] = []
  #isScheduled = false
  /** Set while only patient commands wait. */
  #sharing: NodeJS.Timeout | null = null
  /** When the last commit began that held others than patient commands. */
  #committedAtMs = Number.NEGATIVE_INFINITY
  #isLoadsTurn = false
  #flights = 0
  /** Commands in the last group commit. */
  #lastTaken = 0

  constructor(parts: CommitterParts) {
    this.#parts = parts
    this.#free = { group: [...parts.groupConnections], apart: [...parts.apartConnections] }
  }

  /** Commands wait in this actor's mailbox, or it has become free for those that do. */
  wake(actor: AppActor): void {
    if (actor.waiting === 0 || actor.isBusy) return
    this.#ready.add(actor)
    if (this.#isScheduled) return
    const { sharingMs } = this.#parts
    if (actor.isPatient && performance.now() - this.#committedAtMs < sharingMs) {
      this.#sharing ??= setTimeout(() => this.#start(), sharingMs)
      return
    }
    this.#isScheduled = true
    // After this turn of the event loop: all requests that arrived in it share the flush.
    setImmediate(() => {
      this.#isScheduled = false
      this.#start()
    })
  }

  /** Resolves when nothing is being committed and nothing waits. */
  async idle(): Promise<void> {
    if (this.#isIdle()) return
    await new Promise<void>(resolve => this.#onIdle.push(resolve))
  }

  #isIdle(): boolean {
    return this.#flights === 0 && this.#ready.size === 0
  }

  #start(): void {
    if (this.#sharing !== null) clearTimeout(this.#sharing)
    this.#sharing = null
    while (this.#free.group.length > 0) {
      const jobs = this.#gather()
      if (jobs.length === 0) break
      this.#fly('group', jobs)
    }
    while (this.#free.apart.length > 0) {
      const jobs = this.#gatherApart()
      if (jobs.length === 0) break
      this.#fly('apart', jobs)
    }
  }

  /** True where something waits that is not waiting to share a commit. */
  #hasUrgent(): boolean {
    if (this.#sharing === null) return this.#ready.size > 0
    for (const actor of this.#ready) if (!actor.isPatient) return true
    return false
  }

  /** What loads rows and what is contended take turns, so that neither keeps all connections. */
  #gatherApart(): Job[] {
    this.#isLoadsTurn = !this.#isLoadsTurn
    const [first, second] = this.#isLoadsTurn
      ? [this.#gatherLoads(), () => this.#gatherContended()]
      : [this.#gatherContended(), () => this.#gatherLoads()]
    return first.length > 0 ? first : second()
  }

  /** One command of each app: what a second one would load, the first has not written yet. */
  #gatherLoads(): Job[] {
    const jobs: Job[] = []
    for (const actor of this.#ready) {
      if (!actor.needsLoad) continue
      if (jobs.length === loadsAtOnce) break
      const tasks = this.#take(actor, 1)
      if (tasks.length > 0) jobs.push({ actor, tasks })
    }
    return jobs
  }

  #gatherContended(): Job[] {
    return this.#gatherUpTo(this.#parts.flushLimit, actor => actor.isApart && !actor.needsLoad)
  }

  #gather(): Job[] {
    const jobs = this.#gatherUpTo(this.#portion(), actor => !actor.isApart)
    this.#lastTaken = jobs.reduce((sum, { tasks }) => sum + tasks.length, 0)
    return jobs
  }

  #gatherUpTo(most: number, isMeant: (actor: AppActor) => boolean): Job[] {
    const jobs: Job[] = []
    let room = most
    for (const actor of this.#ready) {
      if (!isMeant(actor)) continue
      if (room <= 0) break
      const tasks = this.#take(actor, room)
      room -= tasks.length
      if (tasks.length > 0) jobs.push({ actor, tasks })
    }
    return jobs
  }

  /**
   * How many to take: half of what waits and what went last, so that flushes are of one size. Where one takes all that
   * there is, as after a pause, this process has nothing to do until PostgreSQL has done it, and PostgreSQL nothing while
   * this process answers: with 64 senders that cost 5 % of their messages, with 256 2 % (measured).
   */
  #portion(): number {
    let waiting = 0
    for (const actor of this.#ready) if (!actor.isApart) waiting += actor.waiting
    return Math.min(this.#parts.flushLimit, Math.max(leastPortion, Math.ceil((waiting + this.#lastTaken) / 2)))
  }

  #take(actor: AppActor, most: number): Task[] {
    this.#ready.delete(actor)
    if (actor.isBusy) return []
    const tasks = actor.take(most)
    actor.isBusy = tasks.length > 0
    return tasks
  }

  #fly(kind: Kind, jobs: Job[]): void {
    const connection = this.#free[kind].pop()
    if (connection === undefined) throw new Error('A flush was started without a free connection')
    this.#flights++
    this.#parts.observe(jobs.reduce((sum, { tasks }) => sum + tasks.length, 0))
    const startedAt = performance.now()
    const { tracer } = this.#parts
    const span = tracer ? startCommitSpan(tracer, kind, jobs) : null
    if (jobs.some(({ tasks }) => tasks.some(({ command }) => !command.isPatient))) this.#committedAtMs = startedAt
    const run = kind === 'group' ? this.#runGroup(connection, jobs) : this.#run(connection, jobs)
    void run.finally(() => {
      this.#flights--
      this.#parts.observeTime(performance.now() - startedAt)
      span?.end()
      this.#free[kind].push(connection)
      for (const { actor } of jobs) {
        actor.isBusy = false
        this.wake(actor)
      }
      if (this.#hasUrgent()) this.#start()
      if (this.#isIdle()) for (const resolve of this.#onIdle.splice(0)) resolve()
    })
  }

  /** Commits what nobody else writes to; the rest goes back to where it came from. Never rejects. */
  async #runGroup(connection: CommitConnection, jobs: Job[]): Promise<void> {
    try {
      const { outcomes, apart } = await flush(this.#parts, connection, jobs)
      this.#answers.give(outcomes, this.#ready.size === 0)
      for (const { actor, tasks } of apart) {
        if (actor.isDiscarded) this.#parts.discard(actor, tasks)
        else actor.putBack(tasks)
      }
    } catch (error) {
      await this.#recover(connection, jobs, error)
    }
  }

  /**
   * Commits all jobs under locks, or where that fails task by task, so that a bad one fails alone. Never rejects; false
   * where PostgreSQL could not be asked.
   */
  async #run(connection: CommitConnection, jobs: Job[]): Promise<boolean> {
    try {
      this.#answers.give(await flushApart(this.#parts, connection, jobs), this.#ready.size === 0)
      return true
    } catch (error) {
      return this.#recover(connection, jobs, error)
    }
  }

  /** Deals with jobs whose commit has failed. Never rejects; false where PostgreSQL could not be asked. */
  async #recover(connection: CommitConnection, jobs: Job[], error: unknown): Promise<boolean> {
    if (error instanceof OutcomeUnknown) {
      this.#giveUp(jobs, error)
      return false
    }
    const alone = jobs.flatMap(({ actor, tasks }) => tasks.map(task => ({ actor, tasks: [task] })))
    if (alone.length > 1) await this.#separate(connection, alone, error)
    else {
      await connection.rollback()
      await this.#tryAgain(connection, alone[0]!, error)
    }
    return !isUnavailable(error)
  }

  /** One by one until PostgreSQL is away: each of the others would wait for as long, and who comes meanwhile for all. */
  async #separate(connection: CommitConnection, alone: Job[], reason: unknown): Promise<void> {
    this.#parts.log.warn({ tasks: alone.length, error: reason }, 'A group commit failed; its commands are tried alone')
    const waiting = [...alone]
    if (isUnavailable(reason) && !isAnswer(reason)) refuse(waiting.splice(0))
    await connection.rollback()
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      if (job.actor.isDiscarded) this.#parts.discard(job.actor, job.tasks)
      else if (!(await this.#run(connection, [job]))) refuse(waiting.splice(0))
    }
  }

  /** A command that failed alone fails, unless somebody else has done it since it looked. Never rejects. */
  async #tryAgain(connection: CommitConnection, job: Job, reason: unknown): Promise<void> {
    if (!isKeyTaken(reason)) return this.#fail(job, reason)
    try {
      this.#answers.give(await flushApart(this.#parts, connection, [job]), this.#ready.size === 0)
    } catch (error) {
      if (error instanceof OutcomeUnknown) return this.#giveUp([job], error)
      await connection.rollback()
      this.#fail(job, error)
    }
  }

  /** Nobody knows whether the commit took place: memory is loaded anew, and callers may repeat what they sent. */
  #giveUp(jobs: Job[], error: OutcomeUnknown): void {
    this.#parts.log.error({ apps: jobs.length, error }, 'PostgreSQL was lost while committing')
    for (const { actor } of jobs) this.#parts.discard(actor)
    refuse(jobs)
  }

  #fail({ actor, tasks }: Job, error: unknown): void {
    for (const { command, reject } of tasks) {
      const conflict = command.conflicts?.[violatedConstraint(error) ?? '']
      if (conflict === undefined) this.#parts.discard(actor)
      reject(conflict === undefined ? error : conflict())
    }
  }
}

/** Their callers may try again in a moment. */
function refuse(jobs: Job[]): void {
  for (const { tasks } of jobs) for (const task of tasks) task.reject(overloaded())
}
