import { listUsersById, type User } from '../../../auth/user-cache.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { IdPage, Page } from '../../../api/page.ts'
import { fromNearerEnd, inOrder, orderBy, type NearWalk } from '../../../postgres/order.ts'
import { rememberedCount } from '../../../postgres/cached-query.ts'
import type { Db, Fragment } from '../../../postgres/sql.ts'
import { toDirectory, toFollowed, toFollowers, toMatching, toNamed, toVisible, type UserSet } from './sets.ts'

export type PersonOrder = 'id' | 'name' | 'created_at'

const columns: Record<PersonOrder, string> = { id: 'u.id', name: 'u.sort_name', created_at: 'u.created_at' }

/** Lists within a set of up to this many users start from these. A guess. */
const fewLimit = 2_000

/** The most rows of an order that are looked at one by one, 10 µs each, before the sets are gathered. A guess. */
const walkedLimit = 2_000

/** The sets that a list is restricted to. */
export interface Belonging {
  /** Directories that all listed users must be in. Where the caller is not in one of them, the list is empty. */
  directories: string[]
  /** Only followers of this user, or only users whom it follows. */
  followersOf?: number
  followedBy?: number
}

/** What a list of users is restricted to. */
export interface PersonFilter extends Belonging {
  by: Principal
  /** true: only agents; false: only users who are no agents. */
  agent?: boolean | undefined
  system?: boolean | undefined
  autocomplete?: boolean | undefined
}

/** One page of users, and the total. */
export async function listPersons(
  db: Db,
  filter: PersonFilter,
  page: Page<PersonOrder>,
): Promise<{ count: number; persons: User[] }> {
  const { by, agent, system, autocomplete, directories, followersOf, followedBy } = filter
  const sets = [
    ...directories.map(directory => toDirectory(db, directory, by)),
    ...(followersOf === undefined ? [] : [toFollowers(db, followersOf)]),
    ...(followedBy === undefined ? [] : [toFollowed(db, followedBy)]),
    // A member of a directory sees all its members.
    ...(by.kind === 'key' || directories.length > 0 ? [] : [toVisible(db, by)]),
  ]
  const asked = { by, agent, withSystem: system === true, isPrefix: autocomplete ?? true }
  const question = ['users', directories, followersOf, followedBy]
  const { ids, count } = await listWithin(db, { sets, question, ...asked }, page)
  return { count, persons: ids.length === 0 ? [] : inOrder(ids, await listUsersById(db, ids)) }
}

interface Wanted {
  sets: UserSet[]
  /** What tells these sets from others of the caller. */
  question: unknown[]
  by: Principal
  agent: boolean | undefined
  withSystem: boolean
  isPrefix: boolean
}

/** A page of the users in all of some sets, and the total, which may be half a minute old where these are large. */
export async function listWithin(db: Db, wanted: Wanted, page: Page<PersonOrder>): Promise<IdPage> {
  const { by, agent, withSystem, isPrefix, question } = wanted
  const { q, tags, trashed, skip, countOnly } = page
  if (trashed === true && by.kind !== 'key') return { ids: [], count: 0 }
  const more = [
    ...(q === undefined ? [] : [toNamed(db, q, isPrefix, by)]),
    ...(tags.length === 0 ? [] : [toMatching(db, db`fold_names(u.tags) && fold_names(${tags}::text[])`)]),
    ...(agent === true ? [toMatching(db, db`u.is_agent`)] : []),
    ...(trashed === true ? [toMatching(db, db`u.trashed_at is not null`)] : []),
  ]
  const sets = [...wanted.sets, ...more]
  // Users in the trash are visible to API keys, which may restore them.
  const isHiding = trashed === false || by.kind !== 'key'
  const leaving = [...(isHiding ? [db`u.trashed_at is not null`] : []), ...(agent === false ? [db`u.is_agent`] : [])]
  const rest = leaving.reduce((all, left) => db`${all} and not (${left})`, db`u.id >= ${withSystem ? 0 : 1}`)

  const few = await findFew(db, sets)
  if (few !== undefined) return listFew(db, { few, sets, rest }, page)
  const isKept = sets.length === 1 && sets[0]!.size !== undefined && !withSystem
  const count = isKept
    ? await countKept(db, sets[0]!, leaving)
    : await rememberedCount(db, [...question, by.kind, by.user, agent, withSystem, q, isPrefix, tags, trashed], () =>
        countAll(
          db,
          and(
            db,
            sets.map(({ hasMany }) => hasMany),
            rest,
          ),
        ),
      )
  if (countOnly || skip >= count) return { ids: [], count }
  return { ids: await listMany(db, { sets, rest }, fromNearerEnd(page, count)), count }
}

/** The smallest set, if it is small. */
async function findFew(db: Db, sets: UserSet[]): Promise<UserSet | undefined> {
  const known = sets.filter(({ ids }) => ids !== undefined)
  if (known.length === 0) return undefined
  const sizes = known
    .map(({ ids }) => db`(select count(*) from (${ids!} limit ${fewLimit + 1}) r)`)
    .reduce((all, one) => db`${all}, ${one}`)
  const [row] = await db<{ sizes: number[] }[]>`select array[${sizes}]::bigint[] as sizes`
  const least = Math.min(...row!.sizes)
  return least > fewLimit ? undefined : known[row!.sizes.indexOf(least)]
}

interface Narrowed {
  sets: UserSet[]
  rest: Fragment
}

/** Starts from the users of one set, as an array: PostgreSQL may otherwise walk over all users to find the first. */
async function listFew(
  db: Db,
  { few, sets, rest }: Narrowed & { few: UserSet },
  { order, skip, take, countOnly }: Page<PersonOrder>,
): Promise<IdPage> {
  const others = sets.filter(set => set !== few).map(({ has }) => has)
  const [found] = await db<IdPage[]>`
    with found as materialized (
      select u.id, u.sort_name, u.created_at from users u
      where u.id = any(array(${few.ids!})) and ${and(db, others, rest)})
    select (select count(*) from found) as count,
      array(select u.id from found u ${orderBy(db, order, columns)} limit ${countOnly ? 0 : take} offset ${skip}) as ids`
  return found!
}

/** The total of a set whose size is known: the users that the list leaves out are fewer. Served by users_trashed and users_agents. */
async function countKept(db: Db, { ids, size }: UserSet, leaving: Fragment[]): Promise<number> {
  const all = await size!()
  if (leaving.length === 0) return all
  const isLeft = leaving.reduce((one, other) => db`${one} or ${other}`)
  return all - (await countAll(db, db`(${isLeft}) and u.id in (${ids!})`))
}

async function countAll(db: Db, where: Fragment): Promise<number> {
  const [row] = await db<{ count: number }[]>`select count(*) as count from users u where ${where}`
  return row!.count
}

/**
 * Looks at the first users of the order one by one; where too few of them are in all sets, gathers these, and walks on.
 * Served by users_by_name, users_by_creation or the primary key.
 */
async function listMany(db: Db, { sets, rest }: Narrowed, walk: NearWalk<PersonOrder>): Promise<number[]> {
  const { limit, offset, restore } = walk
  const order = orderBy(db, walk.order, columns)
  const page = db`${order} limit ${limit} offset ${offset}`
  const select = async (from: Fragment) => {
    const rows = await db<{ id: number }[]>`select u.id from ${from} ${page}`
    return restore(rows.map(({ id }) => id))
  }
  if (sets.length === 0) return select(db`users u where ${rest}`)
  if (offset < walkedLimit) {
    const has = and(
      db,
      sets.map(set => set.has),
      rest,
    )
    const ids = await select(db`(select * from users u ${order} limit ${walkedLimit}) u where ${has}`)
    if (ids.length === limit) return ids
  }
  // Of users with words the first are soon found, whatever else is asked of them; to gather all others takes longer.
  const named = offset < walkedLimit ? sets.find(({ isNamed }) => isNamed) : undefined
  const gathered = named === undefined ? sets : [named]
  const others = sets.filter(set => !gathered.includes(set)).map(({ has }) => has)
  const hasMany = and(
    db,
    gathered.map(set => set.hasMany),
    rest,
  )
  return select(db`(select * from users u where ${hasMany} ${order}) u where ${and(db, others, db`true`)}`)
}

function and(db: Db, conditions: Fragment[], rest: Fragment): Fragment {
  return conditions.reduce((all, one) => db`${all} and ${one}`, rest)
}
