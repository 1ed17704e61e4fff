import type { IdempotencyKey } from '../../api/idempotency-key.ts'
import type { Principal } from '../../auth/principal.ts'
import { overloaded } from '../../lib/errors.ts'
import { Vault } from '../../lib/vault.ts'
import type { SharedLog } from '../../log/shared-log.ts'
import { isCollision, type Sql, type Tx } from '../../postgres/sql.ts'
import { findEarlier, isIdempotencyRace, listStoredResults, toStoredResults } from '../commit/idempotency.ts'
import type { AppEvent } from '../event.ts'
import { GlobalWork, type CreatedApp, type GlobalCommand } from './command.ts'
import { record, type Done } from './record.ts'

/** A command until its transaction has ended. */
interface PendingGlobalCommand {
  command: GlobalCommand<unknown, unknown>
  by: Principal
  input: unknown
  idempotencyKey: IdempotencyKey | undefined
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** The most commands of one transaction. A guess: it has room for all connections of the usual load test. */
const groupLimit = 64

/** Commands that may wait for a shared transaction, about 0.5 s of work; more are refused with 503. */
const waitingLimit = 2_000

/**
 * Runs commands of what belongs to no app, in transactions that the database orders. Commands that may share a commit
 * gather while one is in flight, so that load makes transactions larger and not more frequent: each locks the one row
 * that orders the shared log. When the process dies, open transactions roll back; none of their commands was
 * acknowledged.
 */
export class GlobalCommands {
  readonly #sql: Sql
  readonly #sharedLog: SharedLog
  readonly #now: () => Date
  readonly #vault: Vault
  readonly #eventListeners: ((event: AppEvent) => void)[] = []
  readonly #appListeners: ((created: CreatedApp) => void)[] = []
  readonly #commitListeners: ((command: GlobalCommand<never, unknown>) => void)[] = []
  readonly #waiting: PendingGlobalCommand[] = []
  #isCommitting = false
  #onSharedRev: ((rev: number) => void) | null = null

  constructor(sql: Sql, sharedLog: SharedLog, now: () => Date, vault = new Vault([])) {
    this.#sql = sql
    this.#sharedLog = sharedLog
    this.#now = now
    this.#vault = vault
  }

  /** Calls the listener with the first event of each app that this node creates. */
  onFirstEvent(listener: (event: AppEvent) => void): void {
    this.#eventListeners.push(listener)
  }

  /** Calls the listener with each app that this node creates: after the commit, and before its first event. */
  onAppCreated(listener: (created: CreatedApp) => void): void {
    this.#appListeners.push(listener)
  }

  /** Calls the listener with each command that this node has committed, before its caller gets the result. */
  onCommit(listener: (command: GlobalCommand<never, unknown>) => void): void {
    this.#commitListeners.push(listener)
  }

  /** Sets the one listener that is called with the new head rev of the shared log when a commit of this node moved it. */
  onSharedRev(listener: (rev: number) => void): void {
    this.#onSharedRev = listener
  }

  /**
   * Resolves after the commit, when the caches of this node are invalidated. Rejects with the command's Problem, or with
   * 503 where too many commands wait.
   */
  run<Input, Result>(
    command: GlobalCommand<Input, Result>,
    by: Principal,
    input: Input,
    idempotencyKey?: IdempotencyKey,
  ): Promise<Result> {
    return new Promise<unknown>((resolve, reject) => {
      const pending = {
        command: command as GlobalCommand<unknown, unknown>,
        by,
        input,
        idempotencyKey,
        resolve,
        reject,
      }
      if (command.sharesCommit !== true) void this.#runAlone(pending)
      else if (this.#waiting.length >= waitingLimit) reject(overloaded())
      else {
        this.#waiting.push(pending)
        if (!this.#isCommitting) void this.#runGroups()
      }
    }) as Promise<Result>
  }

  /** Commits waiting commands until there are none. Never rejects. */
  async #runGroups(): Promise<void> {
    this.#isCommitting = true
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, groupLimit)
      if (group.length === 1) await this.#runAlone(group[0]!)
      else await this.#runTogether(group)
    }
    this.#isCommitting = false
  }

  /** Commits a group in one transaction, or where that fails each command alone. Never rejects. */
  async #runTogether(group: PendingGlobalCommand[]): Promise<void> {
    let results: unknown[]
    try {
      results = await this.#commit(group)
    } catch {
      // Whatever failed fails again alone, and is reported to its own caller.
      await Promise.all(group.map(pending => this.#runAlone(pending)))
      return
    }
    for (const [at, { resolve }] of group.entries()) resolve(results[at])
  }

  /** Commits a command in a transaction of its own. Never rejects. */
  async #runAlone(pending: PendingGlobalCommand): Promise<void> {
    const attempt = async () => (await this.#commit([pending]))[0]
    try {
      const again = (error: unknown) => {
        if (!isIdempotencyRace(error) && !isCollision(error)) throw error
        return attempt()
      }
      pending.resolve(await attempt().catch(again))
    } catch (error) {
      pending.reject(error)
    }
  }

  /** Runs commands in one transaction and returns their results, in the same order. */
  async #commit(group: PendingGlobalCommand[]): Promise<unknown[]> {
    let rev = 0
    let done: Done[] = []
    await this.#sql.begin(async tx => {
      // All are awaited even if one fails: its rest would run in the next transaction of the connection.
      const settled = await Promise.allSettled(group.map(pending => this.#decide(tx, pending)))
      done = settled.map(result => {
        if (result.status === 'rejected') throw result.reason
        return result.value
      })
      rev = await record(tx, done)
    })
    await this.#sharedLog.catchUpTo(rev)
    if (rev > 0) this.#onSharedRev?.(rev)
    for (const created of done.flatMap(({ work }) => work.createdApps))
      for (const listener of this.#appListeners) listener(created)
    for (const event of done.flatMap(({ work }) => work.events))
      for (const listener of this.#eventListeners) listener(event)
    for (const { command } of group) for (const listener of this.#commitListeners) listener(command)
    return done.map(({ result }) => result)
  }

  async #decide(tx: Tx, { command, by, input, idempotencyKey }: PendingGlobalCommand): Promise<Done> {
    const work = new GlobalWork({ sql: tx, by, now: this.#now(), vault: this.#vault })
    const earlier = idempotencyKey && (await findCommitted(tx, idempotencyKey))
    if (earlier === undefined) return { work, result: await command.run(work, input), idempotencyKey }
    by.place?.repeated()
    return { work, result: earlier.result, idempotencyKey: undefined }
  }
}

/** The stored result of a key, after all other transactions with the key have ended. */
async function findCommitted(tx: Tx, idempotencyKey: IdempotencyKey): Promise<{ result: unknown } | undefined> {
  const { key } = idempotencyKey
  await tx`select pg_advisory_xact_lock(${key.readBigInt64BE(0).toString()}::bigint)`
  return findEarlier(idempotencyKey, toStoredResults(await listStoredResults(tx, [key])))
}
