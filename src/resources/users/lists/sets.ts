import type { Principal } from '../../../auth/principal.ts'
import { toReference } from '../../../api/reference.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import { selectVisible, isVisibleTo } from '../visible.ts'

/** A set of users, in two forms of a condition on `u`, a row of users. */
export interface UserSet {
  /** A query for their ids, some possibly repeatedly; absent where they are nearly all users. */
  ids?: Fragment
  /** Looks each row up by itself: for few rows. */
  has: Fragment
  /** Gathers the set first: for many rows. */
  hasMany: Fragment
  /** True for users with certain words in their names. */
  isNamed?: boolean
  /** The number of its users, those in the trash included, where it is kept or easily counted. */
  size?: () => Promise<number> | number
}

/** A set by a query for ids, of which `from` is everything but what is selected: `column`. */
export function toSet(db: Db, column: Fragment, from: Fragment): UserSet & { ids: Fragment } {
  const ids = db`select ${column} ${from}`
  // A subquery for a value, which PostgreSQL evaluates for each row; `exists` may become a join with the whole set.
  const has = db`coalesce((select true ${from} and ${column} = u.id limit 1), false)`
  return { ids, has, hasMany: isAmong(db, ids) }
}

/**
 * PostgreSQL expects few ids in an array, and hashes them: of a query it may expect too many for that, or start from it,
 * one user after the other.
 */
function isAmong(db: Db, ids: Fragment): Fragment {
  return db`((u.id in (select unnest(array(${ids})))) is true)`
}

/** All users that match a condition on `u`. */
export function toMatching(db: Db, condition: Fragment): UserSet {
  const ids = db`select u.id from users u where ${condition}`
  return { ids, has: condition, hasMany: isAmong(db, ids) }
}

/** All users but those of a set. */
export function toOthersThan(db: Db, { has, hasMany }: UserSet): UserSet {
  return { has: db`not ${has}`, hasMany: db`not ${hasMany}` }
}

/** The users of both sets. */
export function toUnion(db: Db, one: UserSet & { ids: Fragment }, other: UserSet & { ids: Fragment }): UserSet {
  const ids = db`${one.ids} union all ${other.ids}`
  return { ids, has: db`(${one.has} or ${other.has})`, hasMany: isAmong(db, ids) }
}

/** The users whom a user sees. */
export function toVisible(db: Db, by: Principal): UserSet & { ids: Fragment } {
  const ids = selectVisible(db, by.user)
  return { ids, has: isVisibleTo(db, by), hasMany: isAmong(db, ids) }
}

/** The members of a directory; none where the caller is not in it. */
export function toDirectory(db: Db, directory: string, { kind, user }: Principal): UserSet {
  const { id, name } = toReference(directory)
  const isMember = db`exists (select from directory_members o where o.directory_id = d.id and o.user_id = ${user})`
  const isWanted = db`${id === null ? db`fold_name(d.name) = fold_name(${name})` : db`d.id = ${id}`}
    and ${kind === 'key' ? db`true` : isMember}`
  const set = toSet(
    db,
    db`m.user_id`,
    db`from directory_members m join directories d on d.id = m.directory_id where ${isWanted}`,
  )
  return { ...set, size: () => countIds(db, set.ids) }
}

/** The followers of a user. */
export function toFollowers(db: Db, user: number): UserSet {
  const set = toSet(db, db`f.user_id`, db`from follows f where f.followed_id = ${user}`)
  return { ...set, size: () => countIds(db, set.ids) }
}

/** Whom a user follows. */
export function toFollowed(db: Db, user: number): UserSet {
  return toSet(db, db`f.followed_id`, db`from follows f where f.user_id = ${user}`)
}

/**
 * Users in whom the caller finds all words of `q`, or words that begin with these. Only API keys search e-mail addresses
 * and usernames. Served by users_search and users_readable.
 */
export function toNamed(db: Db, q: string, isPrefix: boolean, { kind }: Principal): UserSet {
  const query = db`name_query(${q}, ${isPrefix}, false)`
  const readable = db`person_terms(u.display_name, u.name, u.uid, u.given_name, u.middle_name, u.family_name, u.nickname)`
  // The stored words are checked first: computing those of a row takes 10 µs.
  const isFound = kind === 'key' ? db`u.search @@ ${query}` : db`(u.search @@ ${query} and ${readable} @@ ${query})`
  return { ...toMatching(db, isFound), isNamed: true }
}

async function countIds(db: Db, ids: Fragment): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from (${ids}) r`
  return row!.count
}
