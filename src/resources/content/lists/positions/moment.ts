import type { Db } from '../../../../postgres/sql.ts'
import { isWithin, toKey, type Place } from './place.ts'

/** A time, and an id among the items of that time. The time is a text, in the database's precision. */
export interface Moment {
  time: string
  id: number
}

/** When an item was last edited, or created where it never was; null where it has been deleted. */
export async function findMoment(db: Db, table: string, id: number): Promise<Moment | null> {
  const [row] = await db<Moment[]>`
    select coalesce(updated_at, created_at)::text as time, id from ${db(table)} where id = ${id}`
  return row ?? null
}

/**
 * The first item of a place created at a moment or later; beyond all ids where there is none. Reads one block: within
 * an app, times follow ids.
 */
export async function findMadeFrom(db: Db, place: Place, table: string, { time, id }: Moment): Promise<number> {
  const [row] = await db<{ id: number }[]>`
    select id from ${db(table)}
    where ${isWithin(db, place, {
      from: db`(
        select coalesce(max(first_id), 0) from blocks
        where app_id = ${place.app} and parent_id = ${place.parent ?? 0}
          and (made_at, first_id) <= (${time}::text::timestamptz, ${id}::bigint))`,
    })}
      and (created_at, id) >= (${time}::text::timestamptz, ${id})
    order by ${toKey(db, place)}, id limit 1`
  return row?.id ?? Number.MAX_SAFE_INTEGER
}
