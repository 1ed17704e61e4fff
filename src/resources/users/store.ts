import type { JSONValue } from 'postgres'
import { listPeople, selectPeople, type Person } from '../../actors/people.ts'
import type { Principal } from '../../actors/principal.ts'
import { toReference } from '../../lib/reference.ts'
import { orderBy } from '../../storage/order.ts'
import type { Page } from '../../storage/page.ts'
import type { Db, Fragment, Tx } from '../../storage/sql.ts'
import { toTsQuery } from '../../storage/words.ts'
import { isVisibleTo, visibleTo } from './visible.ts'

/** A condition on `u`, a row of users: it is the one that `ref` names. Served by the primary key, or users_uid. */
function isNamed(db: Db, ref: string): Fragment {
  const { id, name } = toReference(ref)
  return id === null ? db`lower(u.uid) = lower(${name})` : db`u.id = ${id}`
}

/** The user or agent behind `{user}`, trashed or not; null where there is none that the caller can see. */
export async function findPerson(db: Db, ref: string, by: Principal): Promise<Person | null> {
  const [row] = await db<Person[]>`${selectPeople(db)} where ${isNamed(db, ref)} and ${isVisibleTo(db, by)}`
  return row ?? null
}

/** The id behind `{user}`: of people and agents, trashed or not, and of the special users. */
export async function findUserId(db: Db, ref: string): Promise<number | null> {
  const [row] = await db<{ id: number }[]>`select u.id from users u where ${isNamed(db, ref)}`
  return row?.id ?? null
}

/** The same for many references at once, by reference; those that name nobody are missing. */
export async function resolvePeople(db: Db, refs: readonly string[]): Promise<Map<string, number>> {
  if (refs.length === 0) return new Map()
  const references = [...new Set(refs)].map(text => ({ text, ...toReference(text) }))
  const rows = await db<{ text: string; id: number }[]>`
    with r as (
      select * from unnest(${references.map(({ text }) => text)}::text[], ${references.map(({ id }) => id)}::bigint[],
        ${references.map(({ name }) => name)}::text[]) as r(text, id, name))
    select r.text, u.id from r join users u on u.id = r.id
    union all
    select r.text, u.id from r join users u on lower(u.uid) = lower(r.name)`
  return new Map(rows.map(({ text, id }) => [text, id]))
}

export interface PersonFilter {
  by: Principal
  agent?: boolean | undefined
  system?: boolean | undefined
  autocomplete?: boolean | undefined
  /** References of directories that people must all be in. A user who is not in one of them finds nobody there. */
  directories: string[]
  /** Only those who follow this user, or are followed by it. */
  followersOf?: number
  followedBy?: number
}

export type PersonOrder = 'id' | 'name' | 'created_at'

const orderColumns: Record<PersonOrder, string> = { id: 'id', name: 'lower(display_name)', created_at: 'created_at' }

/** One page of people, and how many there are in all. */
export async function listPersons(
  db: Db,
  filter: PersonFilter,
  page: Page<PersonOrder>,
): Promise<{ count: number; persons: Person[] }> {
  // Unfiltered, an API key's page is a walk along users_display_name; whatever is filtered is found once for both.
  const isWalk = filter.by.kind === 'key' && page.q === undefined
  const [found] = await db<{ count: number; ids: number[] }[]>`
    with found as ${isWalk ? db`not materialized` : db`materialized`} (
      select u.id, u.display_name, u.created_at from users u where ${matches(db, filter, page)})
    select (select count(*) from found) as count,
      array(select id from found ${orderBy(db, page.order, orderColumns)}
        limit ${page.countOnly ? 0 : page.take} offset ${page.skip}) as ids`
  const { count, ids } = found!
  const persons = new Map((ids.length === 0 ? [] : await listPeople(db, ids)).map(person => [person.id, person]))
  // Whoever was deleted between the two is missing.
  return { count, persons: ids.flatMap(id => persons.get(id) ?? []) }
}

/** Trashed people show themselves to API keys, which may restore them. */
function matches(db: Db, filter: PersonFilter, page: Page): Fragment {
  const { by, agent, system, autocomplete, directories, followersOf, followedBy } = filter
  const { q, tags, trashed } = page
  const query = toTsQuery(q, autocomplete ?? true)
  if (trashed === true && by.kind !== 'key') return db`false`
  const hidesTrashed = trashed === false || by.kind !== 'key'
  const inDirectories = directories.map(directory => db`and ${isInDirectory(db, directory, by)}`)
  return db`u.id >= ${system === true ? 0 : 1}
    ${hidesTrashed ? db`and u.trashed_at is null` : trashed === null ? db`` : db`and u.trashed_at is not null`}
    ${agent === undefined ? db`` : db`and u.is_agent = ${agent}`}
    ${tags.length === 0 ? db`` : db`and u.tags && ${tags}::text[]`}
    ${query === null ? db`` : db`and u.search @@ ${query}::tsquery`}
    ${followersOf === undefined ? db`` : db`and u.id in (select user_id from follows where followed_id = ${followersOf})`}
    ${followedBy === undefined ? db`` : db`and u.id in (select followed_id from follows where user_id = ${followedBy})`}
    ${inDirectories.reduce((all, one) => db`${all} ${one}`, db``)}
    and ${query === null ? visibleTo(db, by) : isVisibleTo(db, by)}`
}

function isInDirectory(db: Db, directory: string, { kind, user }: Principal): Fragment {
  const { id, name } = toReference(directory)
  const isMember = db`exists (select from directory_members o where o.directory_id = d.id and o.user_id = ${user})`
  return db`u.id in (
    select m.user_id from directory_members m join directories d on d.id = m.directory_id
    where ${id === null ? db`lower(d.name) = lower(${name})` : db`d.id = ${id}`}
      and ${kind === 'key' ? db`true` : isMember})`
}

/** What may be written of a user. */
export interface UserRow {
  uid: string | null
  name: string | null
  given_name: string | null
  middle_name: string | null
  family_name: string | null
  nickname: string | null
  email: string | null
  phone_number: string | null
  username: string | null
  comment: string | null
  picture_id: number | null
  metadata: Record<string, unknown> | null
  tags: string[]
  display_name: string
  /** Folded words of what q looks into: letters and digits only, which is how PostgreSQL writes a tsvector. */
  search: string
}

export type StoredUser = Omit<UserRow, 'search'> & {
  id: number
  is_agent: boolean
  trashed_at: Date | null
  directory_ids: number[]
}

/** The user behind `ref`, locked against other changes until the transaction ends. */
export async function lockUser(tx: Tx, ref: string): Promise<StoredUser | null> {
  const [row] = await tx<StoredUser[]>`
    select u.id, u.uid, u.name, u.given_name, u.middle_name, u.family_name, u.nickname, u.email, u.phone_number,
      u.username, u.comment, u.picture_id, u.metadata, u.tags, u.display_name, u.is_agent, u.trashed_at,
      array(select m.directory_id from directory_members m where m.user_id = u.id order by 1) as directory_ids
    from users u where ${isNamed(tx, ref)}
    for no key update of u`
  return row ?? null
}

/** The id of the new user; null where somebody has its uid. */
export async function insertUser(
  tx: Tx,
  user: UserRow & { is_agent: boolean; created_at: Date },
): Promise<number | null> {
  const [row] = await tx<{ id: number }[]>`
    insert into users ${tx(toColumns(tx, user))}
    on conflict (lower(uid)) do nothing
    returning id`
  return row?.id ?? null
}

export async function updateUser(tx: Tx, id: number, user: UserRow & { updated_at: Date }): Promise<void> {
  await tx`update users set ${tx(toColumns(tx, user))} where id = ${id}`
}

function toColumns<Row extends UserRow>(tx: Tx, user: Row) {
  // Came out of JSON, so it is JSON.
  return { ...user, metadata: user.metadata === null ? null : tx.json(user.metadata as JSONValue) }
}

export async function updatePassword(tx: Tx, id: number, hash: string | null): Promise<void> {
  await tx`update users set password_hash = ${hash} where id = ${id}`
}

/** Who signs in with this name. Trashed users do not. Served by users_username. */
export async function findPassword(
  db: Db,
  username: string,
): Promise<{ id: number; password_hash: string | null } | null> {
  const [row] = await db<{ id: number; password_hash: string | null }[]>`
    select id, password_hash from users where lower(username) = lower(${username}) and trashed_at is null`
  return row ?? null
}

export async function updateTrashed(tx: Tx, id: number, at: Date | null): Promise<void> {
  await tx`update users set trashed_at = ${at} where id = ${id}`
}

/** Profile, tokens and directory memberships. What the user wrote stays. */
export async function removeUser(tx: Tx, id: number): Promise<void> {
  await tx`delete from users where id = ${id}`
}

/** The ids behind references to directories, by reference; locked, so that nobody deletes them meanwhile. */
export async function resolveDirectories(tx: Tx, refs: readonly string[]): Promise<Map<string, number>> {
  const references = [...new Set(refs)].map(text => ({ text, ...toReference(text) }))
  const rows = await tx<{ text: string; id: number }[]>`
    select r.text, d.id
    from unnest(${references.map(({ text }) => text)}::text[], ${references.map(({ id }) => id)}::bigint[],
      ${references.map(({ name }) => name)}::text[]) as r(text, id, name)
    join directories d on d.id = r.id or lower(d.name) = lower(r.name)
    order by d.id
    for key share of d`
  return new Map(rows.map(({ text, id }) => [text, id]))
}

export async function replaceDirectories(tx: Tx, user: number, directories: number[]): Promise<void> {
  await tx`delete from directory_members where user_id = ${user} and directory_id <> all(${directories}::bigint[])`
  await tx`
    insert into directory_members (directory_id, user_id)
    select d, ${user} from unnest(${directories}::bigint[]) d
    on conflict do nothing`
}
