import type { Problem } from '../lib/errors.ts'
import type { Batch } from '../postgres/batch.ts'
import type { Db } from '../postgres/sql.ts'
import type { Draft } from './draft.ts'
import { applyEvent, type AppEvent, type EventType } from './event.ts'
import type { UserCache } from '../auth/user-cache.ts'
import type { Principal } from '../auth/principal.ts'
import type { AppRow, State } from './state.ts'

/**
 * A change of an app that a request asks for. The commands of an app run one at a time, each on the exact state that
 * the commands before it leave (see commit/flush/flush.ts).
 */
export interface Command<Input, Result, Loaded = undefined> {
  name: string
  /** The most numbers (ids and revs) that the command uses. Default: 2, one id and one event. */
  maxIds?: (input: Input) => number
  /**
   * Reads rows that memory does not hold, before `decide`. A command with this step commits alone in its app, and apart
   * from commands without it, so that it does not delay them.
   */
  load?: (db: Db, app: number, input: Input, by: Principal) => Promise<Loaded>
  /** Throws a Problem, or declares rows and events and returns the result. Synchronous, and without SQL. */
  decide: (work: Work<Loaded>, input: Input) => Result
  /**
   * True where the command decides on nothing that other commands of its kind change: only on what guard events change
   * (see `EventType.isGuard`), and for the rest appends to the app. It may then be decided on a state that lacks the
   * newest events, and be committed after them, unless it calls `Work.requireHead`. Default: false.
   */
  commutes?: boolean
  /** True for a command without urgency: while others commit, it may wait a moment to share their commit. */
  isPatient?: boolean
  /** The refusal for the violation of a unique index or a foreign key, by the name of the constraint. */
  conflicts?: Record<string, () => Problem>
}

type CommandOptions<Input> = Pick<Command<Input, unknown, unknown>, 'commutes' | 'isPatient' | 'maxIds' | 'conflicts'>

/** Declares a command that decides on the state in memory alone. */
export function command<Input, Result>(
  name: string,
  decide: (work: Work<undefined>, input: Input) => Result,
  options: CommandOptions<Input> = {},
): Command<Input, Result> {
  return { name, decide, ...options }
}

/** Declares a command that reads rows before it decides. It may use 16 numbers unless `maxIds` says otherwise. */
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

/** A row to be written with a commit, and the batch statement that writes it. */
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
  /** The Idempotency-Key of the request, as it was sent; null where it had none. */
  key: string | null
}

/**
 * Hands out numbers of the one sequence for ids and revs, or offsets: ascending, and above all that the apps of the flush
 * use.
 */
export class IdSequence {
  readonly #drawn: readonly number[]
  #next = 0

  constructor(drawn: readonly number[]) {
    this.#drawn = drawn
  }

  /** The number that comes next; 0 after the last. */
  get first(): number {
    return this.#drawn[this.#next] ?? 0
  }

  next(): number {
    const number = this.#drawn[this.#next++]
    if (number === undefined) throw new Error('A command took more numbers than it declared')
    return number
  }
}

/** All that the `decide` of a command may read and change. */
export class Work<Loaded = undefined> {
  readonly by: Principal
  /** The time of the command. Within an app it never goes back, even where the clocks of nodes differ. */
  readonly now: Date
  readonly loaded: Loaded
  /** Users by id, as far as they are in memory. The caller always is. */
  readonly userCache: UserCache
  readonly writes: Write[] = []
  readonly events: AppEvent[] = []
  readonly #draft: Draft
  readonly #ids: IdSequence
  readonly #key: string | null

  constructor({ draft, by, now, loaded, userCache, ids, key }: WorkParts<Loaded>) {
    this.by = by
    this.now = now < draft.headAt ? draft.headAt : now
    this.loaded = loaded
    this.userCache = userCache
    this.#draft = draft
    this.#ids = ids
    this.#key = key
  }

  get app(): AppRow {
    return this.#draft.app
  }

  /** The app as the commands before this one leave it. Read only: events alone change it. */
  get state(): Omit<State, 'putMember' | 'dropMember' | 'putItem' | 'changeItem' | 'dropItem'> {
    return this.#draft
  }

  /** Says that the decision depends on the newest event of the app, although the command commutes. */
  requireHead(): void {
    this.#draft.needsHead = true
  }

  /** An id for new content, larger than every id and rev of the app so far. It may be an offset, until the commit. */
  nextId(): number {
    return this.#ids.next()
  }

  /** Declares a row that the commit writes. */
  write<Row extends object>(batch: Batch<Row>, row: Row): void {
    this.writes.push({ batch: batch as Batch<object>, row })
  }

  /** Declares an event. It takes effect on the state after `decide` has returned. */
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
      key: this.#key,
      body,
    })
  }

  /** Applies the events to the draft, so that the next command of the flush sees their effect. */
  applyEvents(): void {
    for (const event of this.events) applyEvent(this.#draft, event)
  }
}
