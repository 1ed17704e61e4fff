import { toIdArray } from '../postgres/arrays.ts'
import { batch } from '../postgres/batch.ts'
import type { EventRow } from '../log/events.ts'
import type { Db, Fragment } from '../postgres/sql.ts'
import type { EntityRef, Loaded } from './event.ts'
import { copyOf, type AppRow, type MemberRow } from './state.ts'

/** The row of an app, or null. */
export async function findApp(db: Db, app: number): Promise<AppRow | null> {
  const [row] = await db<AppRow[]>`select * from apps where id = ${app}`
  return row === undefined ? null : copyOf(row)
}

/** All member rows of an app: members in the order in which they joined, then users with settings only. */
export function listMembers(db: Db, app: number): Promise<MemberRow[]> {
  return db<MemberRow[]>`
    select * from members where app_id = ${app}
    order by joined_rev nulls last, user_id`
}

/** The rows of apps that exist, by id. Served by the primary key. */
export async function findApps(db: Db, apps: number[]): Promise<Map<number, AppRow>> {
  const rows = await db<AppRow[]>`select * from apps where id = any(${apps}::bigint[])`
  return new Map(rows.map(row => [row.id, copyOf(row)]))
}

/** The head revs of the apps that exist, by id. Served by the primary key. */
export async function listHeads(db: Db, apps: number[]): Promise<Map<number, number>> {
  const rows = await db<{ id: number; head_rev: number }[]>`
    select id, head_rev from apps where id = any(${toIdArray(apps)}::bigint[])`
  return new Map(rows.map(({ id, head_rev }) => [id, head_rev]))
}

/** Locks apps in id order, and returns where they are. `waiting`: what to do about locks of others. */
export function lockHeads(db: Db, apps: number[], waiting: Fragment) {
  return db<Head[]>`
    select id, head_rev, guard_rev, head_at, made_count from apps
    where id = any(${toIdArray(apps)}::bigint[]) order by id for no key update ${waiting}`
}

/** The member rows that events are about, each of a user in the event's app. Served by the primary key. */
export async function loadMembers(db: Db, entities: readonly EntityRef[]): Promise<Loaded<MemberRow>> {
  const apps = entities.map(({ app_id }) => app_id)
  const users = entities.map(({ entity_id }) => entity_id)
  const rows = await db<MemberRow[]>`
    select * from members
    where (app_id, user_id) in (select * from unnest(${apps}::bigint[], ${users}::bigint[]))`
  const found = new Map(rows.map(row => [`${row.app_id}:${row.user_id}`, row]))
  return ({ app_id, entity_id }) => found.get(`${app_id}:${entity_id}`)
}

/** What decides whether commands that were decided on an older state of an app may be committed. */
export interface Head {
  id: number
  head_rev: number
  guard_rev: number
  head_at: Date
  made_count: number
}

/** A new row of an app, and the head rev that it was decided on. It is written only if the app still has that rev. */
export type MovedApp = AppRow & { known_rev: number }

/** What new events add to an app, whatever other events it has got since they were decided. */
export interface AppendedApp {
  id: number
  /** The last of the events that is activity; null where none is. */
  rev: number | null
  head_rev: number
  head_at: Date
  items: number
  trashed: number
  made: number
  /** The newest message among the events, its author, and the newest of another author; null where there is none. */
  last_id: number | null
  last_by: number | null
  prior_id: number | null
}

/** Updates the counters and revs of apps, which every message changes. Returns the ids of the apps that it wrote. */
export const saveHeads = batch<MovedApp>({
  name: 'save_heads',
  columns: {
    id: 'bigint',
    known_rev: 'bigint',
    rev: 'bigint',
    head_rev: 'bigint',
    head_at: 'timestamptz',
    item_count: 'bigint',
    trashed_count: 'bigint',
    made_count: 'bigint',
    last_id: 'bigint',
    last_by: 'bigint',
    prior_id: 'bigint',
  },
  app: 'id',
  uniform: ['head_at'],
  sql: rows => `
    update apps a set rev = r.rev, head_rev = r.head_rev, head_at = r.head_at, item_count = r.item_count,
      trashed_count = r.trashed_count, made_count = r.made_count, last_id = r.last_id, last_by = r.last_by,
      prior_id = r.prior_id
    from ${rows} r where a.id = r.id and a.head_rev = r.known_rev
    returning a.id`,
})

/**
 * Adds to the counters of apps, and moves their revs on. In a statement that holds the locks of the apps, `a` is the row
 * as the commits of other nodes have left it. Returns the ids of the apps that it wrote.
 */
export const appendHeads = batch<AppendedApp>({
  name: 'append_heads',
  columns: {
    id: 'bigint',
    rev: 'bigint',
    head_rev: 'bigint',
    head_at: 'timestamptz',
    items: 'int',
    trashed: 'int',
    made: 'int',
    last_id: 'bigint',
    last_by: 'bigint',
    prior_id: 'bigint',
  },
  app: 'id',
  uniform: ['head_at'],
  assigns: { rev: 'number', head_rev: 'number', head_at: 'time', last_id: 'number', prior_id: 'number' },
  sql: rows => `
    update apps a set rev = coalesce(r.rev, a.rev), head_rev = r.head_rev, head_at = r.head_at,
      item_count = a.item_count + r.items, trashed_count = a.trashed_count + r.trashed,
      made_count = a.made_count + r.made,
      last_id = coalesce(r.last_id, a.last_id), last_by = coalesce(r.last_by, a.last_by),
      prior_id = case when r.last_id is null then a.prior_id
        else coalesce(r.prior_id, case when a.last_by = r.last_by then a.prior_id else a.last_id end) end
    from ${rows} r where a.id = r.id
    returning a.id`,
})

/** Updates whole rows of apps. Returns the ids of the apps that it wrote. */
export const saveApps = batch<MovedApp>({
  name: 'save_apps',
  columns: {
    ...saveHeads.columns,
    guard_rev: 'bigint',
    uid: 'text',
    name: 'text',
    description: 'text',
    metadata: 'jsonb',
    tags: 'text[]',
    access: 'text',
    directory_id: 'bigint',
    picture_id: 'bigint',
    owner_id: 'bigint',
    is_joinable: 'boolean',
    updated_at: 'timestamptz',
    updated_by: 'bigint',
    trashed_at: 'timestamptz',
    deleted_at: 'timestamptz',
  },
  app: 'id',
  sql: rows => `
    update apps a set rev = r.rev, head_rev = r.head_rev, head_at = r.head_at, item_count = r.item_count,
      trashed_count = r.trashed_count, made_count = r.made_count, last_id = r.last_id, last_by = r.last_by,
      prior_id = r.prior_id, guard_rev = r.guard_rev,
      uid = free_uid(r.uid, a.uid, a.type), name = r.name, description = r.description, metadata = r.metadata,
      tags = r.tags, access = r.access, directory_id = r.directory_id, picture_id = r.picture_id, owner_id = r.owner_id,
      is_joinable = r.is_joinable, updated_at = r.updated_at, updated_by = r.updated_by,
      trashed_at = r.trashed_at, deleted_at = r.deleted_at
    from ${rows} r where a.id = r.id and a.head_rev = r.known_rev
    returning a.id`,
})

/** Updates the read markers of existing member rows. */
export const saveMarks = batch<MemberRow>({
  name: 'save_marks',
  columns: { app_id: 'bigint', user_id: 'bigint', marked_id: 'bigint', marked_at: 'timestamptz' },
  uniform: ['marked_at'],
  assigns: { marked_id: 'number', marked_at: 'time' },
  sql: rows => `
    update members m set marked_id = r.marked_id, marked_at = r.marked_at
    from ${rows} r where m.app_id = r.app_id and m.user_id = r.user_id`,
})

/** Sets the read markers of users who may have no row in the app yet, perhaps at the same time on several nodes. */
export const insertMarks = batch<MemberRow>({
  name: 'insert_marks',
  columns: saveMarks.columns,
  uniform: ['marked_at'],
  assigns: { marked_id: 'number', marked_at: 'time' },
  sql: (rows, columns) => `
    insert into members (${columns}) select ${columns} from ${rows} r
    on conflict (app_id, user_id) do update set marked_id = excluded.marked_id, marked_at = excluded.marked_at`,
})

/** Inserts or updates whole member rows. */
export const saveMembers = batch<MemberRow>({
  name: 'save_members',
  columns: {
    ...saveMarks.columns,
    access: 'text',
    joined_rev: 'bigint',
    pinned_at: 'timestamptz',
    starred_at: 'timestamptz',
    archived_id: 'bigint',
    is_removed: 'boolean',
    hidden_id: 'bigint',
    is_subscribed: 'boolean',
    subscribed_rev: 'bigint',
  },
  sql: (rows, columns) => `
    insert into members (${columns}) select ${columns} from ${rows} r
    on conflict (app_id, user_id) do update set access = excluded.access, joined_rev = excluded.joined_rev,
      marked_id = excluded.marked_id, marked_at = excluded.marked_at, pinned_at = excluded.pinned_at,
      starred_at = excluded.starred_at, archived_id = excluded.archived_id, is_removed = excluded.is_removed,
      hidden_id = excluded.hidden_id, is_subscribed = excluded.is_subscribed,
      subscribed_rev = excluded.subscribed_rev`,
})

export const removeMembers = batch<Pick<MemberRow, 'app_id' | 'user_id'>>({
  name: 'remove_members',
  columns: { app_id: 'bigint', user_id: 'bigint' },
  sql: rows => `
    delete from members m using ${rows} r where m.app_id = r.app_id and m.user_id = r.user_id`,
})

const eventColumns = {
  app_id: 'bigint',
  rev: 'bigint',
  prev: 'bigint',
  type: 'text',
  actor_id: 'bigint',
  entity_type: 'text',
  entity_id: 'bigint',
  facts: 'jsonb',
  created_at: 'timestamptz',
  key: 'text',
} as const

const uniformInEvents = ['type', 'entity_type', 'facts', 'created_at'] as const

export const insertEvents = batch<EventRow>({
  name: 'insert_events',
  columns: eventColumns,
  uniform: uniformInEvents,
  sql: (rows, columns) => `insert into events (${columns}) select ${columns} from ${rows} r`,
})

/** An event whose `prev` the statement fills in, where it is the first of its app in a commit. */
export type AppendedEvent = Omit<EventRow, 'prev'> & { prev: number | null }

/** For a statement with the table `held`: the first event of each app follows the newest that the app has. */
export const appendEvents = batch<AppendedEvent>({
  name: 'append_events',
  columns: eventColumns,
  uniform: uniformInEvents,
  assigns: { rev: 'number', prev: 'number', entity_id: 'number', created_at: 'time' },
  sql: (rows, columns) => `
    insert into events (${columns})
    select app_id, rev, coalesce(prev, held_rev), type, actor_id, entity_type, entity_id, facts, created_at, key
    from ${rows} r join held on held_id = app_id`,
})
