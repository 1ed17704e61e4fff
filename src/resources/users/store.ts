import { selectUsers, type User } from '../../auth/user-cache.ts'
import type { Principal } from '../../auth/principal.ts'
import { toReference } from '../../api/reference.ts'
import type { Db, Fragment, Json, Tx } from '../../postgres/sql.ts'
import { batchLoads } from '../../postgres/batch-loads.ts'
import { isVisibleTo } from './visible.ts'

/** A condition on `u`, a row of users: `ref` names it. Served by the primary key, or users_uid. */
function isNamed(db: Db, ref: string): Fragment {
  const { id, name } = toReference(ref)
  return id === null ? db`fold_name(u.uid) = fold_name(${name})` : db`u.id = ${id}`
}

/** The user or agent that `{user}` names, trashed or not; null where it does not exist or the caller cannot see it. */
export async function findPerson(db: Db, ref: string, by: Principal): Promise<User | null> {
  const [row] = await db<User[]>`${selectUsers(db)} where ${isNamed(db, ref)} and ${isVisibleTo(db, by)}`
  return row ?? null
}

/** The id for `{user}`: of users and agents, trashed or not, and of the special users. */
export async function findUserId(db: Db, ref: string): Promise<number | null> {
  const [row] = await db<{ id: number }[]>`select u.id from users u where ${isNamed(db, ref)}`
  return row?.id ?? null
}

/** As `findUserId`, with one query for all that one transaction looks up within a tick. */
export async function findUserIdTogether(tx: Tx, ref: string): Promise<number | null> {
  return (await resolveTogether(tx, [ref])).get(ref) ?? null
}

const resolveTogether = batchLoads<string, number>((sql, refs) => resolvePeople(sql, refs))

/** The ids for references; unknown ones are missing. */
export async function resolvePeople(db: Db, refs: readonly string[]): Promise<Map<string, number>> {
  if (refs.length === 0) return new Map()
  const references = [...new Set(refs)].map(text => ({ text, ...toReference(text) }))
  const rows = await db<{ text: string; id: number }[]>`
    with r as (
      select * from unnest(${references.map(({ text }) => text)}::text[], ${references.map(({ id }) => id)}::bigint[],
        ${references.map(({ name }) => name)}::text[]) as r(text, id, name))
    select r.text, u.id from r join users u on u.id = r.id
    union all
    select r.text, u.id from r join users u on fold_name(u.uid) = fold_name(r.name)`
  return new Map(rows.map(({ text, id }) => [text, id]))
}

/** The writable columns of a user. */
export type UserRow = Omit<
  User,
  'id' | 'secret' | 'is_agent' | 'directories' | `${'created' | 'updated' | 'trashed'}_at`
>

export type StoredUser = UserRow & {
  id: number
  is_agent: boolean
  trashed_at: Date | null
  directory_ids: number[]
}

/** Locks the user that `ref` names against other changes until the transaction ends. */
export async function lockUser(tx: Tx, ref: string): Promise<StoredUser | null> {
  const [row] = await tx<StoredUser[]>`
    select u.id, u.uid, u.name, u.given_name, u.middle_name, u.family_name, u.nickname, u.email, u.phone_number,
      u.username, u.comment, u.picture_id, u.picture_url, u.claimed_at, u.metadata, u.tags, u.display_name, u.is_agent, u.trashed_at,
      array(select m.directory_id from directory_members m where m.user_id = u.id order by 1) as directory_ids
    from users u where ${isNamed(tx, ref)}
    for no key update of u`
  return row ?? null
}

interface NewUserRow extends UserRow {
  is_agent: boolean
  created_at: Date
}

/** Inserts a user; returns its id, or null where its uid is taken, or is how mentions name another id. */
export async function insertUser(tx: Tx, user: NewUserRow): Promise<number | null> {
  return (await insertUsers(tx, [user])).get(user) ?? null
}

/** Inserts the users that one transaction makes within a tick, in one statement. */
const insertUsers = batchLoads<NewUserRow, number>(async (sql, users) => {
  const rows = await sql<{ place: number; id: number }[]>`
    with given as materialized (
      select nextval(pg_get_serial_sequence('users', 'id')) as new_id, r.*
      from jsonb_to_recordset(${JSON.stringify(users.map((user, place) => ({ ...user, place })))}::text::jsonb) as r(
        place int, uid text, name text, given_name text, middle_name text, family_name text, nickname text, email text,
        phone_number text, username text, comment text, picture_id bigint, picture_url text, claimed_at timestamptz, metadata jsonb, tags text[],
        display_name text, is_agent boolean, created_at timestamptz)
    ), made as (
      insert into users (id, uid, name, given_name, middle_name, family_name, nickname, email, phone_number, username,
        comment, picture_id, picture_url, claimed_at, metadata, tags, display_name, is_agent, created_at)
      select new_id, uid, name, given_name, middle_name, family_name, nickname, email, phone_number, username,
        comment, picture_id, picture_url, claimed_at, metadata, tags, display_name, is_agent, created_at
      from given
      where fold_name(uid) !~ '^u[0-9]{1,15}$' or fold_name(uid) = 'u' || new_id
      on conflict (fold_name(uid)) do nothing
      returning id
    )
    select g.place, g.new_id as id from given g join made m on m.id = g.new_id`
  return new Map(rows.map(({ place, id }) => [users[place]!, id]))
})

export async function updateUser(tx: Tx, id: number, user: UserRow & { updated_at: Date }): Promise<void> {
  // Parsed from JSON, so it is valid JSON.
  const metadata = user.metadata === null ? null : tx.json(user.metadata as Json)
  await tx`update users set ${tx({ ...user, metadata })} where id = ${id}`
}

export async function updatePassword(tx: Tx, id: number, hash: string | null): Promise<void> {
  await tx`update users set password_hash = ${hash} where id = ${id}`
}

/** The user with this username. Trashed users cannot sign in. */
export async function findPassword(
  db: Db,
  username: string,
): Promise<{ id: number; password_hash: string | null } | null> {
  const [row] = await db<{ id: number; password_hash: string | null }[]>`
    select id, password_hash from users where fold_name(username) = fold_name(${username}) and trashed_at is null`
  return row ?? null
}

/** What a token of the host is compared with. */
export interface HostedUser extends Pick<
  User,
  'id' | 'name' | 'email' | 'picture_url' | 'claimed_at' | 'is_agent' | 'trashed_at'
> {
  /** Tokens of the host that were issued before are refused. */
  tokens_revoked_at: Date | null
  /** The names of its directories. */
  directories: string[]
}

/** The user or agent with this uid; null where there is none. */
export async function findHostedUser(db: Db, uid: string): Promise<HostedUser | null> {
  return (await findHostedUsers(db, [uid])).get(uid) ?? null
}

/** Batched, because after a restart all clients come at once. Served by users_uid. */
const findHostedUsers = batchLoads<string, HostedUser>(async (db, uids) => {
  const rows = await db<(HostedUser & { given: string })[]>`
    select r.given, u.id, u.name, u.email, u.picture_url, u.claimed_at, u.is_agent, u.trashed_at, u.tokens_revoked_at,
      array(select d.name from directory_members m join directories d on d.id = m.directory_id where m.user_id = u.id)
        as directories
    from unnest(${uids}::text[]) as r(given) join users u on fold_name(u.uid) = fold_name(r.given)`
  return new Map(rows.map(({ given, ...user }) => [given, user]))
})

/** From now on, tokens of the host that were issued before `at` are refused. */
export async function updateTokensRevoked(tx: Tx, id: number, at: Date): Promise<void> {
  await tx`update users set tokens_revoked_at = ${at} where id = ${id}`
}

/**
 * True where all of these users exist, and none is trashed, which then holds until the transaction ends. Locks in the
 * order of ids, as other transactions do.
 */
export async function holdUsers(tx: Tx, ids: number[]): Promise<boolean> {
  const rows =
    await tx`select from users where id = any(${ids}::bigint[]) and trashed_at is null order by id for key share`
  return rows.length === new Set(ids).size
}

export async function updateTrashed(tx: Tx, id: number, at: Date | null): Promise<void> {
  await tx`update users set trashed_at = ${at} where id = ${id}`
}

/**
 * Removes profile, tokens and directory memberships. The user's content stays, and so does the other member's copy of
 * private chats.
 */
export async function removeUser(tx: Tx, id: number): Promise<void> {
  await tx`
    with gone as (delete from users where id = ${id} returning id)
    insert into deleted_users select id from gone`
}

/** The ids for references to directories; locked, so that they are not deleted meanwhile. */
export async function resolveDirectories(tx: Tx, refs: readonly string[]): Promise<Map<string, number>> {
  const references = [...new Set(refs)].map(text => ({ text, ...toReference(text) }))
  const rows = await tx<{ text: string; id: number }[]>`
    select r.text, d.id
    from unnest(${references.map(({ text }) => text)}::text[], ${references.map(({ id }) => id)}::bigint[],
      ${references.map(({ name }) => name)}::text[]) as r(text, id, name)
    join directories d on d.id = r.id or fold_name(d.name) = fold_name(r.name)
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
