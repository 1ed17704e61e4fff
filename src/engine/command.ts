import type { Problem } from '../lib/errors.ts'
import type { Batch } from '../postgres/batch.ts'
import type { Db } from '../postgres/sql.ts'
import type { Draft } from './draft.ts'
import { applyEvent, type AppEvent, type EventType } from './event.ts'
import type { UserCache } from '../auth/user-cache.ts'
import type { Principal } from '../auth/principal.ts'
import type { AppRow, State } from './state.ts'

/**
 * A change of an app, as a request asks for it. `decide` runs in the app's mailbox, on exact state (see flush): it
 * throws a Problem, or declares rows and events and returns the result. It is synchronous and touches no SQL.
 */
export interface Command<Input, Result, Loaded = undefined> {
  name: string
  /** How many numbers (ids and revs) it uses at most; default 2, one id and one event. */
  maxIds?: (input: Input) => number
  /**
   * Reads rows that memory does not hold. Such a command commits apart from those that need not read, so that it does
   * not delay them, and alone in its app.
   */
  load?: (db: Db, app: number, input: Input, by: Principal) => Promise<Loaded>
  decide: (work: Work<Loaded>, input: Input) => Result
  /**
   * Whether another node can do it with this input: where input and result are plain values, dates and bytes. Always, by
   * default; only commands that are listed for it are sent to another node at all.
   */
  travels?: (input: Input) => boolean
  /** Its caller waits for nothing that it does: while others commit, it may wait a moment to share their commit. */
  isPatient?: boolean
  /** Unique indexes and foreign keys that a write may run into, and the refusal that this means. */
  conflicts?: Record<string, () => Problem>
}

/** A command whose input and result only it knows. */
export type AnyCommand = Command<unknown, unknown, unknown>

interface CommandOptions<Input> {
  travels?: (input: Input) => boolean
  isPatient?: boolean
  maxIds?: (input: Input) => number
  conflicts?: Record<string, () => Problem>
}

/** Declares a command that decides on what memory holds. */
export function command<Input, Result>(
  name: string,
  decide: (work: Work<undefined>, input: Input) => Result,
  options: CommandOptions<Input> = {},
): Command<Input, Result> {
  return { name, decide, ...options }
}

/** Declares a command that reads rows first. It may use up to 16 numbers unless `maxIds` says otherwise. */
export function loadingCommand<Input, Result, Loaded>(
  name: string,
  load: (db: Db, app: number, input: Input, by: Principal) => Promise<Loaded>,
  decide: (work: Work<Loaded>, input: Input) => Result,
  options: CommandOptions<Input> = {},
): Command<Input, Result, Loaded> {
  return { name, load, decide, maxIds: () => 16, ...options }
}

interface NewEvent<Body> {
  entity: number
  body: Body
  facts?: Record<string, unknown>
}

/** A row on its way to the database, with what writes it. */
export interface Write {
  batch: Batch<object>
  row: object
}

interface WorkParts<Loaded> {
  draft: Draft
  by: Principal
  now: Date
  loaded: Loaded
  userCache: UserCache
  ids: IdSequence
}

/** Numbers of the environment's one line: ascending, and above every number in the apps of the flush. */
export class IdSequence {
  readonly #drawn: number[]
  #next = 0

  constructor(drawn: number[]) {
    this.#drawn = drawn
  }

  next(): number {
    const number = this.#drawn[this.#next++]
    if (number === undefined) throw new Error('A command took more numbers than it declared')
    return number
  }
}

/** All that a handler may touch. */
export class Work<Loaded = undefined> {
  readonly by: Principal
  /** The time of an app never goes back, whatever the clocks of nodes say: what is made later is no older. */
  readonly now: Date
  readonly loaded: Loaded
  /** Names of people, as far as they are in memory: the caller always is. */
  readonly userCache: UserCache
  readonly writes: Write[] = []
  readonly events: AppEvent[] = []
  readonly #draft: Draft
  readonly #ids: IdSequence

  constructor({ draft, by, now, loaded, userCache, ids }: WorkParts<Loaded>) {
    this.by = by
    this.now = now < draft.app.head_at ? draft.app.head_at : now
    this.loaded = loaded
    this.userCache = userCache
    this.#draft = draft
    this.#ids = ids
  }

  get app(): AppRow {
    return this.#draft.app
  }

  /** The app as the commands before this one have left it. Read only: it changes by events alone. */
  get state(): Omit<State, 'putMember' | 'dropMember' | 'putItem' | 'changeItem' | 'dropItem'> {
    return this.#draft
  }

  /** An id for new content. Larger than every id and rev of the app so far. */
  nextId(): number {
    return this.#ids.next()
  }

  /** Writes a row with the commit. */
  write<Row extends object>(batch: Batch<Row>, row: Row): void {
    this.writes.push({ batch: batch as Batch<object>, row })
  }

  /** Says what happened. The event takes effect on the state when the handler has returned. */
  emit<Body>(kind: EventType<Body>, { entity, body, facts }: NewEvent<Body>): void {
    const prev = this.events.at(-1)?.rev ?? this.#draft.app.head_rev
    this.events.push({
      kind: kind as EventType<unknown>,
      app_id: this.#draft.app.id,
      rev: this.#ids.next(),
      prev,
      type: kind.type,
      actor_id: this.by.user,
      entity_id: entity,
      facts: facts ?? null,
      created_at: this.now,
      body,
    })
  }

  /** Applies the events to the draft, so that the next command of the flush decides on their outcome. */
  applyEvents(): void {
    for (const event of this.events) applyEvent(this.#draft, event)
  }
}
