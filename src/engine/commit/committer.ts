import type { Tracer } from '../../lib/tracer.ts'
import type { OtherNodes } from '../nodes/other-nodes.ts'
import type { AppActor, PendingCommand } from '../app-actor.ts'
import type { FlushEntry } from './flush/decide.ts'
import { flush, flushApart } from './flush/flush.ts'
import type { Flushed, FlushParts } from './flush/entries.ts'
import type { CommitConnection } from './connection.ts'
import { Recovery, type RecoveryParts } from './recovery.ts'
import { startCommitSpan } from './span.ts'

export interface CommitterParts extends FlushParts, RecoveryParts {
  /**
   * Connections for group commits. One is best on two cores: fewer, larger flushes win over more, smaller ones
   * (measured).
   */
  groupConnections: CommitConnection[]
  /** Connections for commits that could delay others: of contended apps, and of commands that load rows first. */
  apartConnections: CommitConnection[]
  /** Commands in one flush at most. */
  flushLimit: number
  /**
   * How long patient commands wait for a commit to share, in milliseconds. They wait only where other commands were
   * committed within this time.
   */
  sharingMs: number
  /** Called with the number of commands of each flush. */
  observe: (commands: number) => void
  /** Called when a flush has ended, with its duration. */
  observeTime: (ms: number) => void
  /** Null where commits are not traced. */
  tracer?: Tracer | null
  otherNodes: OtherNodes
  /** Called with an actor that is no longer busy, before its next commit. */
  settle: (actor: AppActor) => void
}

type Kind = 'group' | 'apart'

/** The commands of a flush are not divided below this number: a smaller flush costs about as much. */
const leastPortion = 32

/**
 * How long commands gather after a flush where other nodes commit too: for each of them a share of that flush's duration,
 * and at most. Measured on two cores, three or four rounds in turns: with half instead of a quarter, two and three nodes
 * whose balancer hashes had 11 and 8 % fewer sends, and three at random 10 %, at the same processor time; without any,
 * three nodes made 90 commits for 1,000 sends instead of 51, for 1.6 times the processor time.
 */
const gatherShare = 0.25
const mostGatherMs = 4

/** After a flush of at most this many commands, no others are waited for. */
const fewCommands = 2

/** The most apps whose commands load rows in one transaction: each waits for the slowest. A guess. */
const loadsAtOnce = 32

/**
 * Group commit over all actors: a flush takes the commands that have gathered in the mailboxes and commits them in one
 * transaction. Several flushes may be in flight, never two with the same app. A waiting command starts a flush; while
 * all connections are busy, commands gather, so that load makes flushes larger instead of more frequent. When the
 * process dies, open transactions roll back; none of their commands was acknowledged.
 */
export class Committer {
  readonly #parts: CommitterParts
  readonly #recovery: Recovery
  readonly #ready = new Set<AppActor>()
  readonly #free: Record<Kind, CommitConnection[]>
  readonly #onIdle: (() => void)[] = []
  #isScheduled = false
  /** The timer of patient commands, while no others wait. */
  #sharing: NodeJS.Timeout | null = null
  /** When the last commit with commands that are not patient began. */
  #committedAtMs = Number.NEGATIVE_INFINITY
  #isLoadsTurn = false
  #openFlushes = 0
  /** Commands in the last group commit. */
  #lastTaken = 0
  /** When the last flush ended, and its duration. */
  #endedAtMs = 0
  #tookMs = 0
  /** The timer of the next flush, while commands gather although a connection is free. */
  #gathering: NodeJS.Timeout | null = null

  constructor(parts: CommitterParts) {
    this.#parts = parts
    this.#recovery = new Recovery(parts, (connection, entries) => this.#commitApart(connection, entries))
    this.#free = { group: [...parts.groupConnections], apart: [...parts.apartConnections] }
  }

  /** Schedules a flush for an actor whose mailbox has received commands, or which is no longer busy. */
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
    // After this turn of the event loop, so that all requests that arrive in it share the flush.
    setImmediate(() => {
      this.#isScheduled = false
      this.#start()
    })
  }

  /** Resolves when no commit is in flight and no command waits. */
  async idle(): Promise<void> {
    if (this.#isIdle()) return
    await new Promise<void>(resolve => this.#onIdle.push(resolve))
  }

  #isIdle(): boolean {
    return this.#openFlushes === 0 && this.#ready.size === 0
  }

  /**
   * How long to let commands gather. Where several nodes commit, PostgreSQL is the bottleneck and not this process: it
   * does less work if the next commands of the callers that the last flush answered share the next flush.
   */
  #gatherMs(): number {
    const others = this.#parts.otherNodes.committing
    if (this.#lastTaken <= fewCommands || others === 0) return 0
    return this.#endedAtMs + Math.min(this.#tookMs * gatherShare * others, mostGatherMs) - performance.now()
  }

  #start(): void {
    if (this.#gathering !== null) return
    const gatherMs = this.#gatherMs()
    if (gatherMs > 0) {
      this.#gathering = setTimeout(() => {
        this.#gathering = null
        this.#startNow()
      }, gatherMs)
      return
    }
    this.#startNow()
  }

  #startNow(): void {
    if (this.#sharing !== null) clearTimeout(this.#sharing)
    this.#sharing = null
    while (this.#free.group.length > 0) {
      const entries = this.#gather()
      if (entries.length === 0) break
      this.#startFlush('group', entries)
    }
    while (this.#free.apart.length > 0) {
      const entries = this.#gatherApart()
      if (entries.length === 0) break
      this.#startFlush('apart', entries)
    }
  }

  /** True where commands wait that are not patient, or may wait no longer. */
  #hasUrgent(): boolean {
    if (this.#sharing === null) return this.#ready.size > 0
    for (const actor of this.#ready) if (!actor.isPatient) return true
    return false
  }

  /** Commands that load rows and commands of contended apps take turns, so that neither occupies all connections. */
  #gatherApart(): FlushEntry[] {
    this.#isLoadsTurn = !this.#isLoadsTurn
    const [first, second] = this.#isLoadsTurn
      ? [this.#gatherLoads(), () => this.#gatherContended()]
      : [this.#gatherContended(), () => this.#gatherLoads()]
    return first.length > 0 ? first : second()
  }

  /** At most one command of each app: a second one would load rows that the first has not written yet. */
  #gatherLoads(): FlushEntry[] {
    const entries: FlushEntry[] = []
    for (const actor of this.#ready) {
      if (!actor.needsLoad) continue
      if (entries.length === loadsAtOnce) break
      const commands = this.#take(actor, 1)
      if (commands.length > 0) entries.push({ actor, commands })
    }
    return entries
  }

  #gatherContended(): FlushEntry[] {
    return this.#gatherUpTo(this.#parts.flushLimit, actor => actor.isApart && !actor.needsLoad)
  }

  #gather(): FlushEntry[] {
    const entries = this.#gatherUpTo(this.#portion(), actor => !actor.isApart)
    this.#lastTaken = entries.reduce((sum, { commands }) => sum + commands.length, 0)
    return entries
  }

  #gatherUpTo(most: number, isMeant: (actor: AppActor) => boolean): FlushEntry[] {
    const entries: FlushEntry[] = []
    let room = most
    for (const actor of this.#ready) {
      if (!isMeant(actor)) continue
      if (room <= 0) break
      const commands = this.#take(actor, room)
      room -= commands.length
      if (commands.length > 0) entries.push({ actor, commands })
    }
    return entries
  }

  /**
   * The most commands for the next flush: half of the sum of waiting commands and commands of the last flush, so that
   * flushes are of equal size. If one flush took all of them, as after a pause, this process would idle until
   * PostgreSQL has committed it, and PostgreSQL while this process answers: that cost 5 % of the messages with 64
   * senders, and 2 % with 256 (measured).
   */
  #portion(): number {
    let waiting = 0
    for (const actor of this.#ready) if (!actor.isApart) waiting += actor.waiting
    return Math.min(this.#parts.flushLimit, Math.max(leastPortion, Math.ceil((waiting + this.#lastTaken) / 2)))
  }

  #take(actor: AppActor, most: number): PendingCommand[] {
    this.#ready.delete(actor)
    if (actor.isBusy) return []
    const commands = actor.takeNext(most)
    actor.isBusy = commands.length > 0
    return commands
  }

  #startFlush(kind: Kind, entries: FlushEntry[]): void {
    const connection = this.#free[kind].pop()
    if (connection === undefined) throw new Error('A flush was started without a free connection')
    this.#openFlushes++
    this.#parts.observe(entries.reduce((sum, { commands }) => sum + commands.length, 0))
    const startedAt = performance.now()
    const { tracer } = this.#parts
    const span = tracer ? startCommitSpan(tracer, kind, entries) : null
    if (entries.some(({ commands }) => commands.some(({ command }) => !command.isPatient)))
      this.#committedAtMs = startedAt
    void this.#run(kind, connection, entries).finally(() => {
      this.#openFlushes--
      this.#endedAtMs = performance.now()
      this.#tookMs = this.#endedAtMs - startedAt
      this.#parts.observeTime(this.#tookMs)
      span?.end()
      this.#free[kind].push(connection)
      for (const { actor } of entries) {
        actor.isBusy = false
        this.#parts.settle(actor)
        this.wake(actor)
      }
      if (this.#hasUrgent()) this.#start()
      if (this.#isIdle()) for (const resolve of this.#onIdle.splice(0)) resolve()
    })
  }

  /**
   * A group commit is of apps that no other node writes to, and returns other commands to their mailboxes; a commit
   * apart is under locks. Never rejects.
   */
  async #run(kind: Kind, connection: CommitConnection, entries: FlushEntry[]): Promise<void> {
    try {
      if (kind === 'apart') await this.#commitApart(connection, entries)
      else this.#conclude(await flush(this.#parts, connection, entries))
    } catch (error) {
      await this.#recovery.recover(connection, entries, error)
    }
  }

  async #commitApart(connection: CommitConnection, entries: FlushEntry[]): Promise<void> {
    this.#conclude(await flushApart(this.#parts, connection, entries))
  }

  #conclude({ results, missed, lost }: Flushed): void {
    this.#parts.replies.add(results, this.#ready.size === 0)
    for (const { actor, commands } of missed) actor.putBack(commands)
    for (const { actor, commands } of lost) this.#parts.discard(actor, commands)
  }
}
