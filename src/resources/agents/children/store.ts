import type { Vault } from '../../../lib/vault.ts'
import type { Db, Tx } from '../../../postgres/sql.ts'
import { openHeaders, sealHeaders, type Headers, type StoredHeaders } from './headers.ts'

/** A child with decrypted headers. */
export interface ChildRow {
  name: string
  headers: Headers | null
}

/** A stored child. */
export type StoredChild<Row extends ChildRow> = Omit<Row, 'headers'> & { id: number; headers: StoredHeaders }

export type ChildTable = 'agent_functions' | 'agent_servers'

/** The statements for the children of one kind. `columns` are those of a row, without its id and its agent. */
export function childStore<Row extends ChildRow>(table: ChildTable, columns: readonly (keyof Row & string)[]) {
  type Stored = StoredChild<Row>
  const list = columns.join(', ')
  const selectAll = (db: Db) => db`select id, ${db.unsafe(list)} from ${db(table)}`
  /** A table expression of one row. */
  const toRow = (tx: Tx, row: Stored) =>
    tx`json_populate_record(null::${tx(table)}, ${JSON.stringify(row)}::text::json) r`

  return {
    table,

    /** In the order of adding. */
    list: (db: Db, agent: number): Promise<Stored[]> =>
      db<Stored[]>`${selectAll(db)} where agent_id = ${agent} order by id`,

    async find(db: Db, agent: number, name: string): Promise<Stored | null> {
      const [row] = await db<Stored[]>`${selectAll(db)} where agent_id = ${agent} and name = ${name}`
      return row ?? null
    },

    /** The row with decrypted headers. */
    open(vault: Vault, { id, ...row }: Stored): Row {
      // A stored row is a row but for these two members.
      return { ...row, headers: openHeaders(vault, row.headers, { table, id }) } as unknown as Row
    },

    /** Inserts a child, with headers encrypted where keys are configured; returns it as stored. */
    async insert(tx: Tx, vault: Vault, agent: number, row: Row): Promise<Stored> {
      const [drawn] = await tx<{ id: number }[]>`select nextval(pg_get_serial_sequence(${table}, 'id')) as id`
      const { id } = drawn!
      const stored = { ...row, id, headers: sealHeaders(vault, row.headers, { table, id }) }
      await tx`
        insert into ${tx(table)} (id, agent_id, ${tx.unsafe(list)}) overriding system value
        select id, ${agent}, ${tx.unsafe(list)} from ${toRow(tx, stored)}`
      return stored
    },

    /** `name`: the name before the change. */
    async update(tx: Tx, agent: number, name: string, row: Stored): Promise<void> {
      await tx`
        update ${tx(table)} set (${tx.unsafe(list)}) = (select ${tx.unsafe(list)} from ${toRow(tx, row)})
        where agent_id = ${agent} and name = ${name}`
    },

    async remove(tx: Tx, agent: number, name: string): Promise<boolean> {
      const { count } = await tx`delete from ${tx(table)} where agent_id = ${agent} and name = ${name}`
      return count > 0
    },

    async removeAll(tx: Tx, agent: number): Promise<void> {
      await tx`delete from ${tx(table)} where agent_id = ${agent}`
    },
  }
}
