import { overloaded } from '../lib/errors.ts'
import { Vault } from '../lib/vault.ts'
import { writeRows, type Batch } from '../postgres/batch.ts'
import { sharedLogId, type EventRow } from '../log/events.ts'
import { batchLoads } from '../postgres/batch-loads.ts'
import { isCollision, type Sql, type Tx } from '../postgres/sql.ts'
import type { Write } from './command.ts'
import type { SharedLog } from '../log/shared-log.ts'
import type { AppEvent, EventType } from './event.ts'
import type { Principal } from '../auth/principal.ts'
import type { AppRow, MemberRow } from './state.ts'
import { idsPerDraw } from '../log/id-pool.ts'
import type { IdempotencyKey } from '../api/idempotency-key.ts'
import {
  findEarlier,
  listStoredResults,
  insertIdempotencyRows,
  isIdempotencyRace,
  toStoredResults,
} from './commit/idempotency.ts'

/**
 * A change of what belongs to no app, as a request asks for it. It runs in a transaction, which it may share, and may
 * use SQL.
 */
export interface GlobalCommand<Input, Result> extends GlobalCommandOptions {
  name: string
  run: (work: GlobalWork, input: Input) => Promise<Result>
}

interface GlobalCommandOptions {
  /**
   * The command may run in one transaction with others like it, its statements between theirs: it inserts rows, reads
   * only rows that none of them writes, and leaves it to an index to refuse what exists already. Many such commands
   * share a commit; if one of them fails, all are done again, each in a transaction of its own.
   */
  sharesCommit?: boolean
}

export function globalCommand<Input, Result>(
  name: string,
  run: (work: GlobalWork, input: Input) => Promise<Result>,
  options: GlobalCommandOptions = {},
): GlobalCommand<Input, Result> {
  return { name, run, ...options }
}

interface Change {
  type: string
  entity_type: string
  entity_id: number
  facts: Record<string, unknown> | null
}

/** All that a global command may touch. */
export class GlobalWork {
  readonly sql: Tx
  readonly by: Principal
  readonly now: Date
  /** Encrypts secrets, which must not stand in the database in clear. */
  readonly vault: Vault
  readonly changes: Change[] = []
  readonly events: AppEvent[] = []
  readonly writes: Write[] = []
  readonly made: MadeApp[] = []

  constructor({ sql, by, now, vault }: Pick<GlobalWork, 'sql' | 'by' | 'now' | 'vault'>) {
    this.sql = sql
    this.by = by
    this.now = now
    this.vault = vault
  }

  /**
   * Invalidates the caches of all nodes, on this one after the commit and before the answer: `user_updated`,
   * `tokens_revoked`.
   */
  changed(type: string, entity_type: string, entity_id: number, facts: Record<string, unknown> | null = null): void {
    this.changes.push({ type, entity_type, entity_id, facts })
  }

  /** Writes a row with the commit, in one statement with all others that are declared so. */
  write<Row extends object>(batch: Batch<Row>, row: Row): void {
    this.writes.push({ batch: batch as Batch<object>, row })
  }

  /** Numbers for an app that this command is making, ascending; one round trip. */
  async nextIds(count: number): Promise<number[]> {
    const request = { count }
    return (await drawTogether(this.sql as unknown as Sql, [request])).get(request)!
  }

  /** This command has made an app: this node keeps it in memory as it is. */
  makes(app: AppRow, members: MemberRow[]): void {
    this.made.push({ app, members })
  }

  /** The first event of an app that this command has made; `rev` is what the app's row holds. */
  emitFirst<Body>(kind: EventType<Body>, app: number, rev: number, body: Body): void {
    this.events.push({
      kind: kind as EventType<unknown>,
      app_id: app,
      rev,
      prev: 0,
      type: kind.type,
      actor_id: this.by.user,
      entity_id: app,
      facts: null,
      created_at: this.now,
      body,
    })
  }
}

/** An app that a command has made, with everybody in it, in the order in which they joined. */
export interface MadeApp {
  app: AppRow
  members: MemberRow[]
}

/** A command that waits for its transaction. */
interface PendingGlobalCommand {
  command: GlobalCommand<unknown, unknown>
  by: Principal
  input: unknown
  idempotencyKey: IdempotencyKey | undefined
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** Commands that share a transaction at most. A guess: with 64, all of the usual load test's connections fit. */
const groupLimit = 64

/** Commands that may wait for a shared transaction: some 0.5 s of them. Beyond it callers are told to come back. */
const waitingLimit = 2_000

/**
 * The same door as `Apps`, for commands that belong to no app. Ordering is left to the database. Commands that may
 * share a commit gather while the one before is on its way, so that load makes transactions larger and not more
 * frequent: each of them locks the one row that numbers all changes of this kind. If the process dies, open
 * transactions roll back, and nothing of them was acknowledged.
 */
export class GlobalCommands {
  readonly #sql: Sql
  readonly #sharedLog: SharedLog
  readonly #now: () => Date
  readonly #vault: Vault
  readonly #listeners: ((event: AppEvent) => void)[] = []
  readonly #adopters: ((made: MadeApp) => void)[] = []
  readonly #followers: ((command: GlobalCommand<never, unknown>) => void)[] = []
  readonly #waiting: PendingGlobalCommand[] = []
  #isCommitting = false
  #watcher: ((rev: number) => void) | null = null

  constructor(sql: Sql, sharedLog: SharedLog, now: () => Date, vault = new Vault([])) {
    this.#sql = sql
    this.#sharedLog = sharedLog
    this.#now = now
    this.#vault = vault
  }

  /** Calls the listener with the first event of every app made on this node. */
  onFirstEvent(listener: (event: AppEvent) => void): void {
    this.#listeners.push(listener)
  }

  /** Calls the adopter with every app made on this node, after its commit and before all listeners. */
  onAppMade(adopter: (made: MadeApp) => void): void {
    this.#adopters.push(adopter)
  }

  /** Calls the follower for every command that was committed on this node, before its caller is answered. */
  onCommit(follower: (command: GlobalCommand<never, unknown>) => void): void {
    this.#followers.push(follower)
  }

  /**
   * Sets the one watcher: called with the new rev of what belongs to no app after each commit of this node that changed
   * it.
   */
  onSharedRev(watcher: (rev: number) => void): void {
    this.#watcher = watcher
  }

  /**
   * Resolves after the commit, when this node's caches have heard of it. Rejects with the command's Problem, or with
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

  /** Never rejects. */
  async #runGroups(): Promise<void> {
    this.#isCommitting = true
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, groupLimit)
      if (group.length === 1) await this.#runAlone(group[0]!)
      else await this.#runTogether(group)
    }
    this.#isCommitting = false
  }

  /** Never rejects. A command that is refused would take the others down with it, so that each is tried alone then. */
  async #runTogether(group: PendingGlobalCommand[]): Promise<void> {
    let results: unknown[]
    try {
      results = await this.#commit(group)
    } catch {
      // Tried alone, the commands that failed fail again, and tell their callers why.
      await Promise.all(group.map(pending => this.#runAlone(pending)))
      return
    }
    for (const [at, { resolve }] of group.entries()) resolve(results[at])
  }

  /** Never rejects. */
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

  /** Runs commands in one transaction and answers their results, in their order. */
  async #commit(group: PendingGlobalCommand[]): Promise<unknown[]> {
    let rev = 0
    let done: Done[] = []
    await this.#sql.begin(async begun => {
      const tx = begun as unknown as Tx
      // To their ends, all of them: what one still asks would run in the transaction after this one.
      const settled = await Promise.allSettled(group.map(pending => this.#decide(tx, pending)))
      done = settled.map(result => {
        if (result.status === 'rejected') throw result.reason
        return result.value
      })
      rev = await record(tx, done)
    })
    await this.#sharedLog.catchUpTo(rev)
    if (rev > 0) this.#watcher?.(rev)
    for (const { work } of done) for (const made of work.made) for (const adopter of this.#adopters) adopter(made)
    for (const { work } of done)
      for (const event of work.events) for (const listener of this.#listeners) listener(event)
    for (const { command } of group) for (const follower of this.#followers) follower(command)
    return done.map(({ result }) => result)
  }

  async #decide(tx: Tx, { command, by, input, idempotencyKey }: PendingGlobalCommand): Promise<Done> {
    const work = new GlobalWork({ sql: tx, by, now: this.#now(), vault: this.#vault })
    const earlier = idempotencyKey && (await findCommitted(tx, idempotencyKey))
    if (earlier !== undefined) return { work, result: earlier.result, idempotencyKey: undefined }
    return { work, result: await command.run(work, input), idempotencyKey }
  }
}

/** A command that was decided, with what its commit has to write beside the command's own rows. */
interface Done {
  work: GlobalWork
  result: unknown
  /** The key that its result is to be kept under. */
  idempotencyKey: IdempotencyKey | undefined
}

/**
 * Waits for other transactions with this key to end, so that the second of two commands finds the first one's result.
 */
async function findCommitted(tx: Tx, idempotencyKey: IdempotencyKey): Promise<{ result: unknown } | undefined> {
  const { key } = idempotencyKey
  await tx`select pg_advisory_xact_lock(${key.readBigInt64BE(0).toString()}::bigint)`
  return findEarlier(idempotencyKey, toStoredResults(await listStoredResults(tx, [key])))
}

/**
 * Writes the events and the answers. The environment's row is locked last, so for as short as can be: three round trips
 * with the commit, for any number of changes. Answers the environment's new rev, 0 where it has not moved.
 */
async function record(tx: Tx, done: Done[]): Promise<number> {
  await writeRows(
    tx,
    done.flatMap(({ work, result, idempotencyKey }) => {
      if (idempotencyKey !== undefined)
        work.write(insertIdempotencyRows, { ...idempotencyKey, result: result ?? null, created_at: work.now })
      return work.writes
    }),
  )
  const first = done.flatMap(({ work }) => work.events.map(toRow))
  const changes = done.flatMap(({ work }) => work.changes.map(change => ({ ...change, by: work.by, now: work.now })))
  if (changes.length === 0) {
    if (first.length > 0) await insertEvents(tx, first)
    return 0
  }
  // Answered in the order in which they are asked: the numbers are drawn under the lock.
  const [[sharedRev], [drawn]] = await Promise.all([
    tx<{ head_rev: number }[]>`select head_rev from environment for update`,
    tx<{ firsts: number[] }[]>`
      select array(select nextval('numbers') from generate_series(1, ${Math.ceil(changes.length / idsPerDraw)}::int)) as firsts`,
  ])
  let prev = sharedRev!.head_rev
  const revs = spread(drawn!.firsts, changes.length)
  const rows = changes.map(({ type, entity_type, entity_id, facts, by, now }, at): NewEvent => {
    const rev = revs[at]!
    const row = {
      app_id: sharedLogId,
      rev,
      prev,
      type,
      actor_id: by.user,
      entity_type,
      entity_id,
      facts,
      created_at: now,
    }
    prev = rev
    return row
  })
  await Promise.all([insertEvents(tx, [...first, ...rows]), tx`update environment set head_rev = ${prev}`])
  return prev
}

type NewEvent = Pick<
  EventRow,
  'app_id' | 'rev' | 'prev' | 'type' | 'actor_id' | 'entity_type' | 'entity_id' | 'facts' | 'created_at'
>

function toRow({ app_id, rev, prev, type, actor_id, kind, entity_id, facts, created_at }: AppEvent): NewEvent {
  return { app_id, rev, prev, type, actor_id, entity_type: kind.entity, entity_id, facts, created_at }
}

async function insertEvents(tx: Tx, rows: NewEvent[]): Promise<void> {
  await tx`
    insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, facts, created_at)
    select app_id, rev, prev, type, actor_id, entity_type, entity_id, facts, created_at
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r(
      app_id bigint, rev bigint, prev bigint, type text, actor_id bigint, entity_type text, entity_id bigint, facts jsonb,
      created_at timestamptz)`
}

/** One draw for all numbers that the commands of one transaction ask for at the same moment. */
const drawTogether = batchLoads<{ count: number }, number[]>(async (sql, requests) => {
  const total = requests.reduce((sum, { count }) => sum + count, 0)
  // The transaction gets its own id first: a node that polls for new revs asks which transactions are open.
  const [row] = await sql<{ firsts: number[] }[]>`
    select array(select nextval('numbers') from generate_series(1, ${Math.ceil(total / idsPerDraw)}::int)) as firsts
    from pg_current_xact_id()`
  const ids = spread(row!.firsts, total)
  return new Map(requests.map(request => [request, ids.splice(0, request.count)]))
})

/** A draw from the sequence gives a number and those after it. */
function spread(firsts: number[], count: number): number[] {
  return Array.from({ length: count }, (_, at) => firsts[Math.floor(at / idsPerDraw)]! + (at % idsPerDraw))
}
