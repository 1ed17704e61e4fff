import { Vault } from '../../lib/vault.ts'
import type { Principal } from '../../auth/principal.ts'
import type { EventRow } from '../../log/events.ts'
import { drawsFor, numbersOf } from '../../log/id-pool.ts'
import { batchLoads } from '../../postgres/batch-loads.ts'
import type { Batch } from '../../postgres/batch.ts'
import type { Tx } from '../../postgres/sql.ts'
import type { Write } from '../command.ts'
import type { AppEvent, EventType } from '../event.ts'
import type { AppRow, MemberRow } from '../state.ts'

/** A change of what belongs to no app, such as users, directories and tokens. It runs in a transaction, with SQL. */
export interface GlobalCommand<Input, Result> {
  name: string
  run: (work: GlobalWork, input: Input) => Promise<Result>
  /**
   * True where the command may run in one transaction with others of the same kind, its statements between theirs: it
   * inserts rows, reads only rows that none of them writes, and leaves it to a unique index to refuse what exists. If
   * one of the commands fails, each is repeated in a transaction of its own.
   */
  sharesCommit?: boolean
}

/** Declares a command of what belongs to no app. */
export function globalCommand<Input, Result>(
  name: string,
  run: (work: GlobalWork, input: Input) => Promise<Result>,
  options: Pick<GlobalCommand<Input, Result>, 'sharesCommit'> = {},
): GlobalCommand<Input, Result> {
  return { name, run, ...options }
}

/** An app that a command has created, with its members in the order in which they joined. */
export interface CreatedApp {
  app: AppRow
  members: MemberRow[]
}

/** All that a global command may use. */
export class GlobalWork {
  readonly sql: Tx
  readonly by: Principal
  readonly now: Date
  /** Encrypts secrets before they are stored. */
  readonly vault: Vault
  readonly changes: Pick<EventRow, 'type' | 'entity_type' | 'entity_id' | 'facts'>[] = []
  readonly events: AppEvent[] = []
  readonly writes: Write[] = []
  readonly createdApps: CreatedApp[] = []

  constructor({ sql, by, now, vault }: Pick<GlobalWork, 'sql' | 'by' | 'now' | 'vault'>) {
    this.sql = sql
    this.by = by
    this.now = now
    this.vault = vault
  }

  /**
   * Adds an event to the shared log, such as `user_updated` or `tokens_revoked`, which invalidates the caches of all
   * nodes: the caches of this node after the commit and before the reply.
   */
  changed(type: string, entity_type: string, entity_id: number, facts: Record<string, unknown> | null = null): void {
    this.changes.push({ type, entity_type, entity_id, facts })
  }

  /** Declares a row that the commit writes. All rows so declared are written in one statement. */
  write<Row extends object>(batch: Batch<Row>, row: Row): void {
    this.writes.push({ batch: batch as Batch<object>, row })
  }

  /** Draws numbers for an app that this command creates, ascending. One round trip. */
  async nextIds(count: number): Promise<number[]> {
    const request = { count }
    return (await drawTogether(this.sql, [request])).get(request)!
  }

  /** Declares an app that this command has created. After the commit this node keeps it in memory. */
  addApp(app: AppRow, members: MemberRow[]): void {
    this.createdApps.push({ app, members })
  }

  /** Declares the first event of a created app. `rev`: the head rev of the app's row. */
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

/** Draws the numbers that the commands of one transaction ask for at one time, in one query. */
const drawTogether = batchLoads<{ count: number }, number[]>(async (sql, requests) => {
  const draws = drawsFor(requests.reduce((sum, { count }) => sum + count, 0))
  // The transaction gets its own id first: a node that polls for new revs asks which transactions are open.
  const [row] = await sql<{ firsts: number[] }[]>`
    select array(select nextval('numbers') from generate_series(1, ${draws}::int)) as firsts from pg_current_xact_id()`
  const ids = numbersOf(row!.firsts)
  return new Map(requests.map(request => [request, ids.splice(0, request.count)]))
})
