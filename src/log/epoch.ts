import type { Admission, Db, Sql, Tx } from '../postgres/sql.ts'

/**
 * How far all numbers are advanced when an epoch begins: ids and revs that the history before had given out, beyond what
 * is left of it, are known to clients and other servers, and must not get another meaning. A guess: a hundred days at
 * 100 writes per second; 2^53 allows nine million such steps.
 */
const gap = 1_000_000_000

/**
 * Names where the rows are written, in SQL; null on a standby. The system and the timeline are those of the log that the
 * server writes to, which is exact from the first write after a promotion (the checkpoint in `pg_control_checkpoint()` is
 * later); the oids tell a database, or a table, from one of the same name that was made anew from a dump.
 */
const origin = `case when not pg_is_in_recovery() then concat_ws('/',
  (select system_identifier from pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8),
  (select oid from pg_database where datname = current_database()),
  tableoid) end`

/** How far the log of the server reaches, in SQL, in bytes; null on a standby. */
const position = `case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint end`

/** A query for a value that changes with the history, and whenever something is written. */
export const anyHistory = `select concat_ws(' ', epoch, epoch_origin, ${origin}, ${position}) from environment`

/** What each connection is asked. */
const look = `select epoch, epoch_origin, ${origin} as origin, ${position} as position from environment`

interface Look {
  epoch: string | null
  epoch_origin: string | null
  /** Null on a standby, as is `position`. */
  origin: string | null
  position: number | null
}

interface EpochStart {
  id: string
  /** Every number that was given out in it is larger. */
  start: number
}

/** A connection that leads to another database than before, in the form of an error of the driver: it may be tried again. */
export class ConnectionRefused extends Error {
  readonly code = 'CONNECTION_REFUSED_BY_EPOCH'
}

/**
 * One history of the database: all that is in the memory of a node belongs to it, and nothing of that may be believed once
 * the database has another. It goes on when PostgreSQL crashes and recovers. It ends where the database is restored from a
 * backup, and where a standby is promoted, which may lack commits that were acknowledged.
 *
 * Every connection of a node is admitted by it: the first one that leads into another history ends the epoch, before
 * anything is read or written there. `signal` aborts at once, and no connection is admitted from then on.
 */
export class Epoch {
  readonly id: string
  readonly start: number
  readonly #ended = new AbortController()
  /** The longest log that was seen. */
  #position = 0
  #wentBack = false

  constructor({ id, start }: EpochStart) {
    this.id = id
    this.start = start
  }

  /** Aborts when it has ended. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /**
   * True where it ended because the server forgot a part of its log, as from a snapshot of its disk that was put back: the
   * database still says that it is in this epoch.
   */
  get wentBack(): boolean {
    return this.#wentBack
  }

  readonly admission: Admission = () => {
    // Looks that were asked at the same time may arrive in another order.
    const known = this.#position
    return { text: look, judge: (row: Look | undefined, error?: unknown) => this.#judge(row, known, error) }
  }

  /**
   * Looks whether the database is still in it, and how far its log reaches. Call it about once a second while something is
   * written: so connections need not break for a history to be noticed that was put in the place of this one, and a log that
   * has become shorter is noticed when they do.
   */
  async look(sql: Sql): Promise<void> {
    const { text, judge } = this.admission()
    const [row] = await sql.unsafe(text)
    const refusal = judge(row as never)
    if (refusal !== null) throw refusal
  }

  #judge(row: Look | undefined, known: number, cause?: unknown): Error | null {
    if (this.signal.aborted) return new ConnectionRefused('The database has another history now')
    if (row === undefined || row.origin === null || row.position === null)
      return new ConnectionRefused('The server is a standby, or its database is being restored', { cause })
    const isSame = row.epoch === this.id && row.epoch_origin === row.origin
    if (isSame && row.position >= known) {
      this.#position = Math.max(this.#position, row.position)
      return null
    }
    this.#wentBack = isSame
    this.#ended.abort()
    return new ConnectionRefused('The database has another history now')
  }
}

interface EpochOptions {
  /** An epoch that the database may still say it is in, and is not. */
  over?: Epoch | null
  /** Called in the transaction in which another epoch begins. */
  onBegin?: (tx: Tx) => Promise<void>
}

/** The epoch of the database; a new one where it has another history than at the last look of any node. */
export async function findEpoch(sql: Sql, { over = null, onBegin }: EpochOptions = {}): Promise<Epoch> {
  return sql.begin(async tx => {
    // Of nodes that find another history together, one begins the epoch.
    const [row] = await tx<(Look & { epoch_start: number })[]>`
      select epoch, epoch_origin, epoch_start, ${tx.unsafe(origin)} as origin from environment for update`
    if (row === undefined) throw new Error('The database has no environment row')
    const isDistrusted = over !== null && over.wentBack && over.id === row.epoch
    if (row.epoch !== null && row.epoch_origin === row.origin && !isDistrusted)
      return new Epoch({ id: row.epoch, start: row.epoch_start })
    // The first epoch of a database has nothing before it.
    if (row.epoch !== null) await advanceNumbers(tx)
    const begun = await beginEpoch(tx, { hasLost: row.epoch !== null })
    await onBegin?.(tx)
    return new Epoch(begun)
  })
}

/** Begins another epoch. `hasLost`: numbers were given out before it, and all of them advanced. */
export async function beginEpoch(db: Db, { hasLost }: { hasLost: boolean }): Promise<EpochStart> {
  const [row] = await db<[EpochStart]>`
    update environment set epoch = gen_random_uuid(), epoch_origin = ${db.unsafe(origin)},
      epoch_start = case when ${hasLost} then (select last_value from numbers) else epoch_start end
    returning epoch as id, epoch_start as start`
  return row
}

/**
 * Advances all sequences beyond every number that the history before may have given out. It lasts even where the transaction
 * fails.
 */
export async function advanceNumbers(db: Db): Promise<void> {
  await db`
    select setval(format('%I.%I', schemaname, sequencename)::regclass, last_value + ${gap}) from pg_sequences
    where schemaname = current_schema() and last_value is not null`
}

/** Admits connections to a primary, whatever its history. */
export const admitPrimary: Admission = () => ({
  text: 'select pg_is_in_recovery() as is_standby',
  judge: (row: { is_standby: boolean } | undefined, cause?: unknown) =>
    row?.is_standby === false ? null : new ConnectionRefused('The server is a standby', { cause }),
})

/** Admits connections to a replica whose rows belong to the epoch. */
export function admitReplica(epoch: string): Admission {
  const judge = (row: { epoch: string | null } | undefined, cause?: unknown) =>
    row?.epoch === epoch
      ? null
      : new ConnectionRefused('The replica is not one of this database, or of another history', { cause })
  return () => ({ text: 'select epoch from environment', judge })
}
