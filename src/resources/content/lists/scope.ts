import type { Page } from '../../../api/page.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import { hasVisibleParent, selectHidingParents } from '../commented.ts'
import type { ContentTable, OrderField } from '../store.ts'
import { selectRestorable } from './restorable.ts'
import { toWalk, type Walk } from './walk.ts'
import { hasTerms, isFound, isFoundIn, isSearch } from './search.ts'

/** The apps of a list, and the visibility of their items for the caller. */
export interface Scope {
  /** Null: all apps in use. */
  apps: number[] | null
  /** The post or file whose comments are listed; null: items made directly in the apps; undefined: both. */
  parent?: number | null
  /** Items up to these ids are hidden from the caller, by app. */
  hidden: { app: number; id: number }[]
  /** Apps whose trashed items the caller may restore; null: all. */
  administered: number[] | null
  /** The caller, whose own trashed items are shown, because the caller may restore them. */
  author: number
  /** Apps in which the caller may only read, and so not restore. Mostly few or none. */
  readOnly: number[]
  /** Only items by users whom this user follows. */
  followedBy?: number
  /** Only items by this user. */
  createdBy?: number
  /** Only ids between these, both excluded. */
  after?: number
  before?: number
  /** True where words and tags are searched in all apps at once, not in each of these separately. */
  isSearchedEverywhere?: boolean
}

/**
 * The most apps, and items of each, to merge by id; beyond, walking over the items of all apps is faster. By time there
 * is nothing to walk along: then this many items in all are better than sorting everything. Guesses.
 */
const mergedApps = 100
const mergedItems = 1_000
export const mergedTotal = 50_000

/** The most apps that are passed as an array. A guess. */
const arrayOfApps = 500

/** The items of a list as `t`, still to be sorted and limited. */
export function selectFrom(db: Db, table: ContentTable, scope: Scope, page: Page<OrderField>): Fragment {
  const all = db`${db(table)} t where ${toFilter(db, table, scope, page)}`
  if (hasTerms(page)) return all
  const restorable = selectRestorable(db, table, scope, page)
  if (restorable !== null) return db`(${restorable}) t`
  if (isFarInAll(scope, page)) return db`${db(table)} t where ${isOutOfHidden(db, table)} ${isBetween(db, scope)}`
  // The trash is small: if PostgreSQL saw the limit, it might walk over everything else.
  if (page.trashed === true) return db`(select t.id, t.created_at, t.updated_at from ${all} offset 0) t`
  const walk = toWalk(page, {})
  // Served by messages_author and the like: an app may hold little or nothing by this user.
  // An app may have any number of comments on other items than the one that is asked for.
  const isBelowOne = typeof scope.parent === 'number'
  if (walk === null || scope.createdBy !== undefined || isBelowOne || !isFew(scope, page)) return all
  return mergeApps(db, table, scope, page, walk)
}

/** Pages beyond this position of all items are walked to without reading rows. A guess: 20 ms. */
const farFrom = 10_000

function isFarInAll({ apps, administered, parent, followedBy, createdBy }: Scope, page: Page<OrderField>): boolean {
  const isAll =
    parent === undefined &&
    followedBy === undefined &&
    createdBy === undefined &&
    apps === null &&
    administered === null
  return isAll && page.trashed === false && page.skip > farFrom && isById(page)
}

export function isById({ order }: Page<OrderField>): boolean {
  return order[0]!.field === 'id'
}

/**
 * The negation of toFilter for an API key's default list, as a condition on the few hidden items: others are skipped by
 * the primary key alone. Reaching the middle of ten million messages read ten million pages in 5 s, and now 27,000 in
 * 1.3 s. Served by messages_trash, apps_hidden, messages_app, comments_parent and the like.
 */
function isOutOfHidden(db: Db, table: ContentTable): Fragment {
  return db`t.id not in (select unnest(array(
    select h.id from ${db(table)} h where h.trashed_at is not null
    union all
    select h.id from apps a join ${db(table)} h on h.app_id = a.id where a.trashed_at is not null or a.deleted_at is not null
    ${table === 'comments' ? db`union all select h.id from comments h join (${selectHidingParents(db)}) p on p.id = h.parent_id` : db``}
  )))`
}

function isFew({ apps }: Scope, { skip, take, order }: Page<OrderField>): boolean {
  const items = skip + take
  if (apps === null) return false
  if (order[0]!.field === 'id') return items <= mergedItems && apps.length <= mergedApps
  return apps.length === 1 || items * apps.length <= mergedTotal
}

/**
 * The most items that the page can take of each app. Served by (app_id, id), and by messages_edited and the like.
 * Otherwise PostgreSQL walks the primary key, over everything where the apps have fewer items than the page: 480 ms
 * instead of 1 in a table of a million; also with an equation on the app, see `isWithin`.
 */
function mergeApps(db: Db, table: ContentTable, scope: Scope, page: Page<OrderField>, walk: Walk): Fragment {
  const direction = walk.descending ? db`desc` : db`asc`
  const { after, before, ...rest } = { ...scope, apps: null }
  const filter = db`
    ${after === undefined ? db`t.app_id >= a.app_id` : db`(t.app_id, t.id) > (a.app_id, ${after})`}
    and ${before === undefined ? db`t.app_id <= a.app_id` : db`(t.app_id, t.id) < (a.app_id, ${before})`}
    and ${toFilter(db, table, rest, page)}`
  const limit = db`limit ${page.skip + page.take}`
  const byId = db`order by t.app_id ${direction}, t.id ${direction} ${limit}`
  const first =
    walk.by === 'id'
      ? db`select t.id, t.created_at, t.updated_at from ${db(table)} t where ${filter} ${byId}`
      : db`
        (select t.id, t.created_at, t.updated_at from ${db(table)} t where ${filter} and t.updated_at is null ${byId})
        union all
        (select t.id, t.created_at, t.updated_at from ${db(table)} t where ${filter} and t.updated_at is not null
          order by t.app_id ${direction}, t.updated_at ${direction}, t.id ${direction} ${limit})`
  return db`unnest(${scope.apps!}::bigint[]) as a(app_id) cross join lateral (${first}) t`
}

/** The condition on `t`, a row of content, for a scope and a page request. */
export function toFilter(db: Db, table: ContentTable, scope: Scope, page: Page): Fragment {
  const { trashed } = page
  const { apps, parent, hidden, followedBy, createdBy, administered, isSearchedEverywhere } = scope
  const mine = isRestorable(db, scope)
  return db`true
    ${!isSearchedEverywhere && isSearch(apps, page) ? db`and ${isFoundIn(db, table, apps, page)}` : db`${isFound(db, table, page)} ${isIn(db, apps)}`}
    ${administered === null ? db`and ${isInLiveApp(db)}` : db``}
    ${parent === undefined && table === 'comments' ? db`and ${hasVisibleParent(db)}` : db``}
    ${parent === undefined ? db`` : parent === null ? db`and t.parent_id is null` : isBelow(db, parent)}
    ${hidden.length === 0 ? db`` : db`and ${isVisible(db, hidden, apps)}`}
    ${followedBy === undefined ? db`` : db`and t.created_by in (select followed_id from follows where user_id = ${followedBy})`}
    ${createdBy === undefined ? db`` : db`and t.created_by = ${createdBy}`}
    ${isBetween(db, scope)}
    ${trashed === false ? db`and t.trashed_at is null` : db``}
    ${trashed === true ? db`and t.trashed_at is not null and ${mine}` : db``}
    ${trashed === null ? db`and (t.trashed_at is null or ${mine})` : db``}`
}

function isBetween(db: Db, { after, before }: Scope): Fragment {
  return db`
    ${after === undefined ? db`` : db`and t.id > ${after}`}
    ${before === undefined ? db`` : db`and t.id < ${before}`}`
}

/** A condition on `t` in the trash: the caller may restore it. */
function isRestorable(db: Db, { administered, author, readOnly }: Scope): Fragment {
  if (administered === null) return db`true`
  const isOwn =
    readOnly.length === 0
      ? db`t.created_by = ${author}`
      : db`t.created_by = ${author} and t.app_id <> all(${readOnly}::bigint[])`
  return administered.length === 0 ? db`(${isOwn})` : db`(${isOwn} or ${isOneOf(db, administered)})`
}

function isIn(db: Db, apps: number[] | null): Fragment {
  return apps === null ? db`` : db`and ${isOneOf(db, apps)}`
}

/**
 * A condition on `t`: it is in one of the apps. Very many are hashed: a statement that is planned once goes through an
 * array for each row, and 20,000 apps took 11 s instead of 2.6 to skip half a million messages.
 */
function isOneOf(db: Db, apps: number[]): Fragment {
  if (apps.length <= arrayOfApps) return db`t.app_id = any(${apps}::bigint[])`
  return db`(t.app_id in (select unnest(${apps}::bigint[]))) is true`
}

/** Not an equation, for the reason given at `isWithin`. */
function isBelow(db: Db, parent: number): Fragment {
  return db`and t.parent_id >= ${parent} and t.parent_id <= ${parent}`
}

/** For API keys: for others, readable apps are listed first. Served by apps_hidden. */
function isInLiveApp(db: Db): Fragment {
  return db`not exists (
    select from apps a where a.id = t.app_id and (a.trashed_at is not null or a.deleted_at is not null))`
}

function isVisible(db: Db, hidden: Scope['hidden'], within: number[] | null): Fragment {
  // In one app it is a range of (app_id, id).
  if (within?.length === 1 && hidden.length === 1) return db`id > ${hidden[0]!.id}`
  const apps = hidden.map(({ app }) => app)
  const ids = hidden.map(({ id }) => id)
  return db`not exists (
    select from unnest(${apps}::bigint[], ${ids}::bigint[]) as h(app_id, id) where h.app_id = t.app_id and t.id <= h.id)`
}
