import type { Principal } from '../../auth/principal.ts'
import { toReference } from '../../api/reference.ts'
import { orderBy } from '../../postgres/order.ts'
import type { Page } from '../../api/page.ts'
import type { Db, Fragment, Tx } from '../../postgres/sql.ts'

export interface DirectoryRow {
  id: number
  name: string
}

/** A condition: `d` is the directory that `ref` names. Served by the primary key, or directories_name. */
function isNamed(db: Db, ref: string): Fragment {
  const { id, name } = toReference(ref)
  return id === null ? db`fold_name(d.name) = fold_name(${name})` : db`d.id = ${id}`
}

/** Users see the directories that they are in, API keys all. */
function isVisible(db: Db, { kind, user }: Principal): Fragment {
  if (kind === 'key') return db`true`
  return db`d.id in (select m.directory_id from directory_members m where m.user_id = ${user})`
}

/** The directory behind `{dir}`; null where there is none that the caller can see. */
export async function findDirectory(db: Db, ref: string, by: Principal): Promise<DirectoryRow | null> {
  const [row] = await db<DirectoryRow[]>`
    select d.id, d.name from directories d where ${isNamed(db, ref)} and ${isVisible(db, by)}`
  return row ?? null
}

/** The id for `{dir}`, without regard to the caller. */
export async function findDirectoryId(db: Db, ref: string): Promise<number | null> {
  const [row] = await db<{ id: number }[]>`select d.id from directories d where ${isNamed(db, ref)}`
  return row?.id ?? null
}

export const orderFields = ['id', 'name', 'created_at'] as const
type DirectoryOrder = (typeof orderFields)[number]

export function listDirectories(db: Db, by: Principal, page: Page<DirectoryOrder>): Promise<DirectoryRow[]> {
  return db<DirectoryRow[]>`
    select d.id, d.name from directories d
    where ${matches(db, by, page)}
    ${orderBy(db, page.order, { id: 'd.id', name: 'fold_name(d.name)', created_at: 'd.created_at' })}
    limit ${page.take} offset ${page.skip}`
}

export async function countDirectories(db: Db, by: Principal, page: Page): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from directories d where ${matches(db, by, page)}`
  return row!.count
}

/** Directories have neither tags nor a trash. */
function matches(db: Db, by: Principal, { q, tags, trashed }: Page): Fragment {
  if (tags.length > 0 || trashed === true) return db`false`
  return db`${isVisible(db, by)} ${q === undefined ? db`` : db`and ${isCalled(db, q)}`}`
}

/** Served by directories_search. As an array: PostgreSQL may go through all directories in order otherwise. */
function isCalled(db: Db, q: string): Fragment {
  return db`d.id = any(array(select s.id from directories s where name_terms(s.name) @@ name_query(${q}, true, false)))`
}

/** Locks a directory against changes until the transaction ends; with `forDeletion` also against new references. */
export async function lockDirectory(tx: Tx, ref: string, forDeletion = false): Promise<DirectoryRow | null> {
  const [row] = await tx<DirectoryRow[]>`
    select d.id, d.name from directories d where ${isNamed(tx, ref)}
    for ${forDeletion ? tx`update` : tx`no key update`}`
  return row ?? null
}

/** Null where the name is taken. */
export async function insertDirectory(tx: Tx, name: string, now: Date): Promise<number | null> {
  const [row] = await tx<{ id: number }[]>`
    insert into directories (name, created_at) values (${name}, ${now})
    on conflict (fold_name(name)) do nothing
    returning id`
  return row?.id ?? null
}

export async function renameDirectory(tx: Tx, id: number, name: string): Promise<void> {
  await tx`update directories set name = ${name} where id = ${id}`
}

export async function removeDirectory(tx: Tx, id: number): Promise<void> {
  await tx`delete from directories where id = ${id}`
}

/** Apps that refer to a directory, at most `limit` of them. Served by apps_directory. */
export async function listDependents(tx: Tx, directory: number, limit: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from apps where directory_id = ${directory} and deleted_at is null limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Returns the users who were not in the directory before. */
export async function addMembers(tx: Tx, directory: number, users: number[]): Promise<number[]> {
  const rows = await tx<{ user_id: number }[]>`
    insert into directory_members (directory_id, user_id)
    -- The lock keeps users from being deleted meanwhile; those already gone are left out.
    select ${directory}, u.id from users u where u.id = any(${users}::bigint[]) order by u.id for key share
    on conflict do nothing
    returning user_id`
  return rows.map(({ user_id }) => user_id)
}

/** Returns the users who were in the directory before. */
export async function removeMembers(tx: Tx, directory: number, users: number[]): Promise<number[]> {
  const rows = await tx<{ user_id: number }[]>`
    delete from directory_members where directory_id = ${directory} and user_id = any(${users}::bigint[])
    returning user_id`
  return rows.map(({ user_id }) => user_id)
}
