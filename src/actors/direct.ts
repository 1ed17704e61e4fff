import { environmentId } from '../storage/events.ts'
import { isCollision, type Sql, type Tx } from '../storage/sql.ts'
import type { OnceKey } from './app-actor.ts'
import type { Environment } from './environment.ts'
import type { AppEvent, EventType } from './event.ts'
import { KeyReused } from './decision.ts'
import type { Principal } from './principal.ts'
import { reviveDates } from './revive.ts'
import { isKeyTaken } from './store.ts'

/** A wish to change what belongs to no app. It runs in a transaction of its own and may use SQL. */
export interface DirectCommand<Input, Result> {
  name: string
  run: (work: DirectWork, input: Input) => Promise<Result>
}

export function directCommand<Input, Result>(
  name: string,
  run: (work: DirectWork, input: Input) => Promise<Result>,
): DirectCommand<Input, Result> {
  return { name, run }
}

interface Change {
  type: string
  entity_type: string
  entity_id: number
  facts: Record<string, unknown> | null
}

/** All that a direct command may touch. */
export class DirectWork {
  readonly sql: Tx
  readonly by: Principal
  readonly now: Date
  readonly changes: Change[] = []
  readonly events: AppEvent[] = []

  constructor(sql: Tx, by: Principal, now: Date) {
    this.sql = sql
    this.by = by
    this.now = now
  }

  /** Tells every node's caches, after the commit and before the answer on this node: `user_updated`, `tokens_revoked`. */
  changed(type: string, entity_type: string, entity_id: number, facts: Record<string, unknown> | null = null): void {
    this.changes.push({ type, entity_type, entity_id, facts })
  }

  /** A number for an app that this command is making. */
  async nextNumber(): Promise<number> {
    // The transaction is given its own number first: whoever looks for new revs asks which transactions are open.
    const [row] = await this.sql<{ number: number }[]>`select nextval('numbers') as number from pg_current_xact_id()`
    return row!.number
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

/** The same door as `Apps`, for commands that belong to no app. Ordering is left to the database. */
export class Direct {
  readonly #sql: Sql
  readonly #environment: Environment
  readonly #now: () => Date
  readonly #listeners: ((event: AppEvent) => void)[] = []
  readonly #followers: ((command: DirectCommand<never, unknown>) => void)[] = []
  #watcher: ((rev: number) => void) | null = null

  constructor(sql: Sql, environment: Environment, now: () => Date) {
    this.#sql = sql
    this.#environment = environment
    this.#now = now
  }

  /** Hears of the first event of every app made on this node. */
  listen(listener: (event: AppEvent) => void): void {
    this.#listeners.push(listener)
  }

  /** Hears of every command that was committed on this node, before its caller does. */
  follow(follower: (command: DirectCommand<never, unknown>) => void): void {
    this.#followers.push(follower)
  }

  /** One watcher at most: told of the environment's new rev after each commit of this node that changed it. */
  watch(watcher: (rev: number) => void): void {
    this.#watcher = watcher
  }

  /** Resolves after the commit, when this node's caches have heard of it. Rejects with the command's Problem. */
  async run<Input, Result>(
    command: DirectCommand<Input, Result>,
    by: Principal,
    input: Input,
    once?: OnceKey,
  ): Promise<Result> {
    try {
      return await this.#attempt(command, by, input, once)
    } catch (error) {
      if (!isKeyTaken(error) && !isCollision(error)) throw error
      return this.#attempt(command, by, input, once)
    }
  }

  async #attempt<Input, Result>(
    command: DirectCommand<Input, Result>,
    by: Principal,
    input: Input,
    once: OnceKey | undefined,
  ): Promise<Result> {
    let rev = 0
    let events: AppEvent[] = []
    const result = await this.#sql.begin(async tx => {
      const earlier = once && (await findEarlier(tx as unknown as Tx, once))
      if (earlier !== undefined) return earlier.result
      const work = new DirectWork(tx as unknown as Tx, by, this.#now())
      const result = await command.run(work, input)
      rev = await record(work, once, result)
      events = work.events
      return result
    })
    await this.#environment.reach(rev)
    if (rev > 0) this.#watcher?.(rev)
    for (const event of events) for (const listener of this.#listeners) listener(event)
    for (const follower of this.#followers) follower(command)
    return result as Result
  }
}

/** Holds off anybody else with the same key until this transaction ends; then one of them finds the other's answer. */
async function findEarlier(tx: Tx, { key, request }: OnceKey): Promise<{ result: unknown } | undefined> {
  await tx`select pg_advisory_xact_lock(${key.readBigInt64BE(0).toString()}::bigint)`
  const [stored] = await tx<{ request: Buffer; result: unknown }[]>`
    select request, result from idempotency where key = ${key}`
  if (stored === undefined) return undefined
  if (!stored.request.equals(request)) throw KeyReused()
  return { result: reviveDates(stored.result) }
}

/** Writes the events and the answer; the environment's row is locked last, so for as short as can be. */
async function record({ sql, by, now, changes, events }: DirectWork, once: OnceKey | undefined, result: unknown) {
  if (once !== undefined) {
    const stored = JSON.stringify(result ?? null)
    await sql`insert into idempotency (key, request, result, created_at)
      values (${once.key}, ${once.request}, ${stored}::text::jsonb, ${now})`
  }
  for (const { app_id, rev, type, kind, entity_id } of events) {
    await sql`insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
      values (${app_id}, ${rev}, 0, ${type}, ${by.user}, ${kind.entity}, ${entity_id}, ${now})`
  }
  if (changes.length === 0) return 0
  const [environment] = await sql<{ head_rev: number }[]>`select head_rev from environment for update`
  let prev = environment!.head_rev
  for (const { type, entity_type, entity_id, facts } of changes) {
    const text = facts === null ? null : JSON.stringify(facts)
    const [row] = await sql<{ rev: number }[]>`
      insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, facts, created_at)
      values (${environmentId}, nextval('numbers'), ${prev}, ${type}, ${by.user}, ${entity_type}, ${entity_id},
        ${text}::text::jsonb, ${now})
      returning rev`
    prev = row!.rev
  }
  await sql`update environment set head_rev = ${prev}`
  return prev
}
