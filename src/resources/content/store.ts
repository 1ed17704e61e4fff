import { batch, batchOfIds } from '../../postgres/batch.ts'
import { inOrder, orderBy } from '../../postgres/order.ts'
import type { Page } from '../../api/page.ts'
import { fieldColumns, fieldNames } from '../apps/content-fields.ts'
import type { Db, Fragment, Sql } from '../../postgres/sql.ts'
import { batchLoads } from '../../postgres/batch-loads.ts'
import { isWithin } from './lists/positions/place.ts'
import { countRestorable } from './lists/restorable.ts'
import { settleTerms } from './lists/search.ts'
import type { ContentRow } from './schema.ts'
import { selectFrom, toFilter, type Scope } from './lists/scope.ts'

export type ContentTable = 'messages' | 'posts' | 'comments'

export const orderFields = ['id', 'created_at', 'updated_at'] as const
export type OrderField = (typeof orderFields)[number]

const orderColumns = { id: 't.id', created_at: 't.created_at', updated_at: 'coalesce(t.updated_at, t.created_at)' }

/** The columns of a new item. Counts start at zero and are changed by `changeCounts`. */
const columns = {
  id: 'bigint',
  app_id: 'bigint',
  parent_type: 'text',
  parent_id: 'bigint',
  text: 'text',
  html: 'text',
  plain: 'text',
  ...fieldColumns,
  embed_id: 'bigint',
  meeting_id: 'bigint',
  attachment_count: 'int',
  option_count: 'int',
  created_at: 'timestamptz',
  created_by: 'bigint',
  updated_at: 'timestamptz',
  updated_by: 'bigint',
  trashed_at: 'timestamptz',
} as const
/** What an edit may change beside the text, and what has one value for nearly all new items of a flush. */
const details = [
  ...fieldNames,
  'embed_id',
  'meeting_id',
  'attachment_count',
  'option_count',
  'updated_at',
  'updated_by',
  'trashed_at',
] as const

const changes = ['text', 'html', 'plain', ...details].map(column => `${column} = r.${column}`).join(', ')

/** A change of the counts of one item. */
export interface CountChange {
  id: number
  reactions: number
  /** The change of visible comments. */
  comments: number
  /** The change of comments ever made. */
  made: number
  stars: number
}

/** The most recently active apps, newest first, and when: no item in them is newer. */
export type Lively = { id: number; head_at: Date }[]

export type ContentStore = ReturnType<typeof contentStore>

/** The SQL of one kind of content; all kinds have the same columns. */
export function contentStore(table: ContentTable) {
  /** Served by the primary key. */
  const appsOf = batchLoads<number, number>(async (sql, ids) => {
    const rows = await sql<{ id: number; app_id: number }[]>`
      select id, app_id from ${sql(table)} where id = any(${ids}::bigint[])`
    return new Map(rows.map(row => [row.id, row.app_id]))
  })
  const findAll = (db: Db, ids: number[]) =>
    db<ContentRow[]>`select * from ${db(table)} where id = any(${ids}::bigint[])`
  /** The ids on a page of matching items, and the total. */
  const searchIds = async (db: Db, scope: Scope, page: Page<OrderField>) => {
    await settleTerms(db, table, scope)
    const [found] = await db<{ count: number; ids: number[] }[]>`
      with found as materialized (
        select t.id, t.created_at, t.updated_at from ${db(table)} t where ${toFilter(db, table, scope, page)})
      select (select count(*) from found) as count,
        array(select t.id from found t ${orderBy(db, page.order, orderColumns)}
          limit ${page.countOnly ? 0 : page.take} offset ${page.skip}) as ids`
    return found!
  }
  return {
    table,
    /** Inserts the items of one flush, of any number of apps. */
    insert: batch<ContentRow>({
      name: `insert_${table}`,
      columns,
      uniform: ['parent_type', 'parent_id', 'created_at', ...details],
      assigns: { id: 'number', created_at: 'time' },
      sql: (rows, columns) => `insert into ${table} (${columns}) select ${columns} from ${rows} r`,
    }),
    /** Updates the changeable columns of items. */
    update: batch<ContentRow>({
      name: `update_${table}`,
      columns,
      key: row => row.id,
      sql: rows => `update ${table} t set ${changes} from ${rows} r where t.id = r.id`,
    }),
    remove: batchOfIds(`remove_${table}`, rows => `delete from ${table} t using ${rows} r where t.id = r.id`),
    /** Changes counts; rows of one flush are summed, because a statement updates a row only once. */
    changeCounts: batch<CountChange>({
      name: `change_counts_${table}`,
      columns: { id: 'bigint', reactions: 'int', comments: 'int', made: 'int', stars: 'int' },
      sql: rows => `
        update ${table} t set reaction_count = reaction_count + r.reactions,
          comment_count = comment_count + r.comments, made_count = made_count + r.made,
          star_count = star_count + r.stars
        from (
          select id, sum(reactions) as reactions, sum(comments) as comments, sum(made) as made, sum(stars) as stars
          from ${rows} x group by id
        ) r
        where t.id = r.id`,
    }),
    async find(db: Db, id: number): Promise<ContentRow | null> {
      const [row] = await db<ContentRow[]>`select * from ${db(table)} where id = ${id}`
      return row ?? null
    },
    /** As `find`, with the head rev of the app at that moment: later events may have changed the item, earlier ones have. */
    async findWithHead(db: Db, id: number): Promise<(ContentRow & { head_rev: number }) | null> {
      const [row] = await db<(ContentRow & { head_rev: number })[]>`
        select i.*, a.head_rev from ${db(table)} i join apps a on a.id = i.app_id where i.id = ${id}`
      return row ?? null
    },
    /** True where the item belongs to the app. */
    isIn: async (sql: Sql, app: number, id: number) => (await appsOf(sql, [id])).get(id) === app,
    findMany: async (db: Db, ids: number[]) => new Map((await findAll(db, ids)).map(row => [row.id, row])),
    /** Items by id, in the given order, that are still in the scope, whatever was searched. */
    async findListed(db: Db, scope: Scope, page: Page, ids: number[]): Promise<ContentRow[]> {
      const any = toFilter(db, table, scope, { ...page, q: undefined, tags: [] })
      const rows = await db<ContentRow[]>`
        select t.* from ${db(table)} t where t.id = any(${ids}::bigint[]) and ${any}`
      return inOrder(ids, rows)
    },
    /** An app's newest visible items, newest first. Served by (app_id, id). */
    listRecent: (db: Db, app: number, limit: number): Promise<ContentRow[]> => db<ContentRow[]>`
      select * from ${db(table)} where ${isWithin(db, { app, parent: null })} and trashed_at is null
      order by app_id desc, id desc limit ${limit}`,
    /** The total of a filtered list. Counts rows: only unfiltered totals are stored, and those of the trash of each app. */
    async count(db: Db, scope: Scope, page: Page): Promise<number> {
      const restorable = await countRestorable(db, table, scope, page)
      if (restorable !== null) return restorable
      const [row] = await db<{ count: number }[]>`
        select count(*) as count from ${db(table)} t where ${toFilter(db, table, scope, page)}`
      return row?.count ?? 0
    },
    /** The number of visible items in apps of some types, from the apps' counters. Served by apps_type. */
    async sumOfApps(db: Db, types: string[], apps: number[] | null): Promise<number> {
      const [row] = await db<{ count: number }[]>`
        select coalesce(sum(item_count), 0)::bigint as count from apps where ${isInUse(db, types, apps)}`
      return row!.count
    },
    /** Apps of some types that have had items. Served by apps_type. */
    async listHolding(db: Db, types: string[], apps: number[] | null, limit: number): Promise<number[]> {
      const rows = await db<{ id: number }[]>`
        select id from apps where made_count > 0 and ${isInUse(db, types, apps)} limit ${limit}`
      return rows.map(({ id }) => id)
    },
    /** The most recently active apps of some types. */
    listLively: (db: Db, types: string[], apps: number[] | null, limit: number): Promise<Lively> => db<Lively>`
      select id, head_at from apps where made_count > 0 and ${isInUse(db, types, apps)}
      order by head_at desc limit ${limit}`,
    /** The apps among `apps` in which items may have been made or edited since then. Served by (app_id, id) and messages_edited. */
    async listNewer(db: Db, apps: number[], since: Date): Promise<number[]> {
      const rows = await db<{ id: number }[]>`
        select a.id from unnest(${apps}::bigint[]) a(id)
        where (
          select created_at from ${db(table)} t where t.app_id >= a.id and t.app_id <= a.id
          order by t.app_id desc, t.id desc limit 1
        ) >= ${since}
        or exists (
          select from ${db(table)} t where t.app_id = a.id and t.updated_at >= ${since} and t.updated_at is not null)`
      return rows.map(({ id }) => id)
    },
    /** The position of an item in a filtered list; null where it is not listed. Checks each item before it. */
    async findPosition(db: Db, scope: Scope, page: Page, id: number): Promise<number | null> {
      const [row] = await db<{ place: number }[]>`
        select place from (
          select id, row_number() over (${orderBy(db, page.order, orderColumns)}) - 1 as place
          from ${db(table)} t where ${toFilter(db, table, scope, page)}
        ) p
        where id = ${id}`
      return row?.place ?? null
    },
    /** A page of items of any number of apps, with any filter and order. Only the items of the page are read whole. */
    list: (db: Db, scope: Scope, page: Page<OrderField>): Promise<ContentRow[]> => db<ContentRow[]>`
      select t.* from ${db(table)} t
      where t.id = any(array(
        select t.id from ${selectFrom(db, table, scope, page)}
        ${orderBy(db, page.order, orderColumns)}
        limit ${page.take} offset ${page.skip}
      ))
      ${orderBy(db, page.order, orderColumns)}`,
    /** A page of matching items and the total, with one search. */
    async search(db: Db, scope: Scope, page: Page<OrderField>): Promise<{ rows: ContentRow[]; count: number }> {
      const { count, ids } = await searchIds(db, scope, page)
      return { rows: ids.length === 0 ? [] : inOrder(ids, await findAll(db, ids)), count }
    },
    searchIds,
  }
}

/** A condition on apps: in use, of some types, and among `apps` unless that is null. */
function isInUse(db: Db, types: string[], apps: number[] | null): Fragment {
  return db`type = any(${types}) and trashed_at is null and deleted_at is null
    ${apps === null ? db`` : db`and id = any(${apps}::bigint[])`}`
}
