import { batch, batchOfIds } from '../../postgres/batch.ts'
import type { Db } from '../../postgres/sql.ts'
import { selectItems } from '../content/seen.ts'
import type { OptionRow } from './schema.ts'

const columns = {
  id: 'bigint',
  app_id: 'bigint',
  item_type: 'text',
  item_id: 'bigint',
  position: 'int',
  text: 'text',
} as const

export const insertOption = batch<OptionRow>({
  name: 'insert_options',
  columns,
  sql: (rows, columns) => `insert into options (${columns}) select ${columns} from ${rows} r`,
})

/** Updates text and position of options; votes stay. */
export const updateOption = batch<OptionRow>({
  name: 'update_options',
  columns,
  key: row => row.id,
  sql: rows => `update options o set position = r.position, text = r.text from ${rows} r where o.id = r.id`,
})

export const removeOption = batchOfIds(
  'remove_options',
  rows => `delete from options o using ${rows} r where o.id = r.id`,
)

/** Removes the votes for an option that goes. Served by votes_option. */
export const removeVotesFor = batchOfIds(
  'remove_votes_for',
  rows => `delete from votes v using ${rows} r where v.option_id = r.id`,
)

/** Removes a whole poll. Served by options_item. */
export const removeOptionsOf = batchOfIds(
  'remove_options_of',
  rows => `delete from options o using ${rows} r where o.item_id = r.id`,
)

/** Removes all votes of a poll. Served by the primary key. */
export const removeVotesOf = batchOfIds(
  'remove_votes_of',
  rows => `delete from votes v using ${rows} r where v.item_id = r.id`,
)

interface VoteRow {
  item_id: number
  user_id: number
  id: number
  option_id: number
}

/** Inserts a vote, or moves it from another option of the poll. */
export const saveVote = batch<VoteRow>({
  name: 'save_votes',
  columns: { item_id: 'bigint', user_id: 'bigint', id: 'bigint', option_id: 'bigint' },
  sql: (rows, columns) => `
    insert into votes (${columns}) select ${columns} from ${rows} r
    on conflict (item_id, user_id) do update set id = excluded.id, option_id = excluded.option_id`,
})

export const removeVote = batch<Pick<VoteRow, 'item_id' | 'user_id'>>({
  name: 'remove_votes',
  columns: { item_id: 'bigint', user_id: 'bigint' },
  sql: rows => `delete from votes v using ${rows} r where v.item_id = r.item_id and v.user_id = r.user_id`,
})

/** Changes the number of an option's votes. */
export const countVotes = batch({
  name: 'count_votes',
  columns: { id: 'bigint', change: 'int' },
  sql: rows => `
    update options o set vote_count = vote_count + r.change
    from (select id, sum(change) as change from ${rows} x group by id) r
    where o.id = r.id`,
})

export async function findOption(db: Db, id: number): Promise<OptionRow | null> {
  const [row] = await db<OptionRow[]>`select * from options where id = ${id}`
  return row ?? null
}

/** Options by id, for events: without polls of items in the trash, or whose parent is. */
export async function findShownOptions(db: Db, ids: number[]): Promise<Map<number, OptionRow>> {
  const rows = await db<OptionRow[]>`
    select o.* from options o
    where o.id = any(${ids}::bigint[])
      and exists (select from (${selectItems(db, db`t.id = o.item_id`)}) i where i.trashed_at is null)`
  return new Map(rows.map(row => [row.id, row]))
}

/** The polls of items, in order, by item. Served by options_item. */
export async function listOptions(db: Db, items: number[]): Promise<Map<number, OptionRow[]>> {
  const rows = await db<OptionRow[]>`
    select * from options where item_id = any(${items}::bigint[]) order by item_id, position`
  return Map.groupBy(rows, row => row.item_id)
}

/** A user's vote in each of some items. Served by the primary key. */
export async function findVotes(db: Db, items: number[], user: number): Promise<Map<number, number>> {
  const rows = await db<{ item_id: number; option_id: number }[]>`
    select item_id, option_id from votes where user_id = ${user} and item_id = any(${items}::bigint[])`
  return new Map(rows.map(row => [row.item_id, row.option_id]))
}

/** The first voters of an option, in order of voting. Served by votes_option. */
export async function listVoters(db: Db, option: number, limit: number): Promise<number[]> {
  const rows = await db<{ user_id: number }[]>`
    select user_id from votes where option_id = ${option} order by id limit ${limit}`
  return rows.map(row => row.user_id)
}
