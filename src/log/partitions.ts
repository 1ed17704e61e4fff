import type { Db } from '../postgres/sql.ts'

/** A table with one partition for each day or month (UTC), named after its beginning. */
export interface PartitionedTable {
  table: string
  unit: 'day' | 'month'
  /**
   * The number of units for which partitions exist ahead: rotation may fail for that long before rows cannot be
   * written.
   */
  ahead: number
}

/**
 * Creates the current and future partitions. A table is created first and then attached, because creating it in place
 * would lock out all readers and writers.
 */
export async function makePartitions(db: Db, { table, unit, ahead }: PartitionedTable, now: Date): Promise<void> {
  const present = new Set(await listPartitions(db, table))
  for (let offset = 0; offset <= ahead; offset++) {
    const from = beginningOf(now, unit, offset)
    const name = toName(table, from, unit)
    if (present.has(name)) continue
    const bounds = `for values from ('${from}') to ('${beginningOf(now, unit, offset + 1)}')`
    await db.unsafe(
      `create table ${name} (like ${table} including all); alter table ${table} attach partition ${name} ${bounds}`,
    )
  }
}

/** Drops the partitions without rows of today and the `keepDays` before. */
export async function dropOldPartitions(
  db: Db,
  { table, unit }: Pick<PartitionedTable, 'table' | 'unit'>,
  keepDays: number,
  now: Date,
): Promise<void> {
  const oldest = toName(table, beginningOf(new Date(now.getTime() - keepDays * 86_400_000), unit, 0), unit)
  for (const name of await listPartitions(db, table)) if (name < oldest) await db.unsafe(`drop table ${name}`)
}

async function listPartitions(db: Db, table: string): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select relid::text as name from pg_partition_tree(${table}::regclass) where isleaf and level = 1`
  return rows.map(({ name }) => name)
}

/** The first day of the unit that is `offset` units from now: `2026-11-01`. */
function beginningOf(now: Date, unit: PartitionedTable['unit'], offset: number): string {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const date = unit === 'day' ? Date.UTC(year, month, day + offset) : Date.UTC(year, month + offset, 1)
  return new Date(date).toISOString().slice(0, 10)
}

/** Partition names sort by time. */
function toName(table: string, from: string, unit: PartitionedTable['unit']): string {
  return `${table}_${from.slice(0, unit === 'day' ? 10 : 7).replaceAll('-', '_')}`
}
