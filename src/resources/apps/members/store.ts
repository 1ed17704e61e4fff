import type { Principal } from '../../../auth/principal.ts'
import type { IdPage, Page } from '../../../api/page.ts'
import type { Db, Sql } from '../../../postgres/sql.ts'
import { listWithin } from '../../users/lists/pages.ts'
import { toOthersThan, toSet, toUnion, toVisible, type UserSet } from '../../users/lists/sets.ts'

export const orderFields = ['name', 'id', 'created_at'] as const
export type OrderField = (typeof orderFields)[number]

export interface MemberFilter {
  app: number
  /** The number of its members. */
  memberCount: number
  by: Principal
  /**
   * true: members; false: users who could become members; null: both. Users with access by a directory or the app's
   * default are included where the caller can see them: otherwise an app that is open to all would list everyone.
   */
  isMember: boolean | null
  isAgent: boolean | undefined
  withSystem: boolean
  isPrefix: boolean
}

/** A page of an app's members or candidates. */
export function listMemberIds(sql: Sql, filter: MemberFilter, page: Page<OrderField>): Promise<IdPage> {
  const { app, by, isMember, isAgent: agent, withSystem, isPrefix } = filter
  const question = ['members', app, isMember]
  return listWithin(sql, { sets: toSets(sql, filter), question, by, agent, withSystem, isPrefix }, page)
}

function toSets(sql: Sql, { app, memberCount, by, isMember, withSystem }: MemberFilter): UserSet[] {
  const members = toSet(sql, sql`m.user_id`, sql`from members m where m.app_id = ${app} and m.access is not null`)
  if (isMember === true) {
    const system = toSet(sql, sql`s.id`, sql`from users s where s.id = 0`)
    return [withSystem ? toUnion(sql, members, system) : { ...members, size: () => memberCount }]
  }
  if (isMember === false) return [toOthersThan(sql, members), ...(by.kind === 'key' ? [] : [toVisible(sql, by)])]
  return by.kind === 'key' ? [] : [toUnion(sql, members, toVisible(sql, by))]
}

/** The apps that a user is a member of and can leave. Served by members_user. */
export async function listMemberships(sql: Sql, user: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select a.id from members m join apps a on a.id = m.app_id
    where m.user_id = ${user} and m.access is not null
      and a.deleted_at is null and a.type not in ('private_chat', 'agent_chat')
    order by a.id`
  return rows.map(({ id }) => id)
}

/**
 * The successor when the owner of an app, or an admin, is among `leaving`: the first to have joined of the remaining
 * members with write access. Null where there is none, or no owner or admin leaves: only otherwise all members are
 * read.
 */
export async function findHeir(db: Db, app: number, leaving: number[]): Promise<number | null> {
  const [row] = await db<{ id: number }[]>`
    select m.user_id as id from members m join users u on u.id = m.user_id
    where (
        exists (select from apps where id = ${app} and owner_id = any(${leaving}::bigint[]))
        or exists (
          select from members l
          where l.app_id = ${app} and l.user_id = any(${leaving}::bigint[]) and l.access = 'admin')
      )
      and m.app_id = ${app} and m.access in ('write', 'admin') and m.user_id <> all(${leaving}::bigint[])
      and not u.is_agent and u.trashed_at is null
    order by m.joined_rev, m.user_id limit 1`
  return row?.id ?? null
}
