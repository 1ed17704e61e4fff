import type { Sql } from '../../src/postgres/sql.ts'

/** Statements that bring back what was dropped. */
interface Dropped {
  constraints: string[]
  indexes: string[]
}

/**
 * Drops the indexes of some tables, and constraints that need one or look into other tables: to be made again when the
 * tables are full, in a fraction of the time that it takes for each row. What other tables refer to stays.
 */
export async function dropIndexes(sql: Sql, tables: string[]): Promise<Dropped> {
  const dropped: Dropped = { constraints: [], indexes: [] }
  for (const table of tables) {
    const constraints = await sql<{ name: string; definition: string }[]>`
      select quote_ident(conname) as name, pg_get_constraintdef(oid) as definition from pg_constraint c
      where conrelid = ${table}::regclass and contype in ('p', 'u', 'f')
        and not exists (select from pg_constraint f where f.contype = 'f' and f.confrelid = c.conrelid)
      order by contype desc`
    for (const { name, definition } of constraints) {
      await sql.unsafe(`alter table ${table} drop constraint ${name}`)
      dropped.constraints.push(`alter table ${table} add constraint ${name} ${definition}`)
    }
    const indexes = await sql<{ name: string; definition: string }[]>`
      select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
      where i.indrelid = ${table}::regclass
        and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`
    for (const { name, definition } of indexes) {
      await sql.unsafe(`drop index ${name}`)
      dropped.indexes.push(definition)
    }
  }
  return dropped
}
