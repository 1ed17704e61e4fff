import type { Db } from '../../postgres/sql.ts'
import type { Sequences, Table } from './manifest.ts'

// Reads the schema from PostgreSQL's catalog, so that backups contain new tables and columns without a change here.
// Objects of extensions are left out.

/** Every table with its stored columns, and the partitions of those that have any. */
export async function listTables(db: Db): Promise<Table[]> {
  return db<Table[]>`
    select c.relname::text as name,
      (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      coalesce((select json_agg(json_build_object('name', p.relname, 'bounds', pg_get_expr(p.relpartbound, p.oid))
          order by p.relname)
        from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = c.oid and p.relispartition),
        '[]') as partitions
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by c.relname`
}

/** The names of all tables and sequences; empty where a backup may be restored. */
export async function listRelations(db: Db): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select c.relname::text as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'S', 'v', 'm') and not c.relispartition
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by c.relname`
  return rows.map(({ name }) => name)
}

/** The value of each sequence; null for an unused one. */
export async function listSequences(db: Db): Promise<Sequences> {
  return db<Sequences>`
    select sequencename::text as name, last_value from pg_sequences
    where schemaname = current_schema() order by sequencename`
}

export async function findPostgresVersion(db: Db): Promise<string> {
  const [row] = await db<{ version: string }[]>`select current_setting('server_version') as version`
  return row!.version
}

export interface ForeignKey {
  /** Of the table. */
  name: string
  constraint: string
  definition: string
}

export async function listForeignKeys(db: Db): Promise<ForeignKey[]> {
  return db<ForeignKey[]>`
    select c.relname::text as name, k.conname::text as constraint, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and k.conparentid = 0 and c.relnamespace = current_schema()::regnamespace
    order by 1, 2`
}
