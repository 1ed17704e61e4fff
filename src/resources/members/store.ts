import type { Principal } from '../../actors/principal.ts'
import type { OrderKey, Page } from '../../storage/page.ts'
import type { Fragment, Sql } from '../../storage/sql.ts'
import { toTsQuery } from '../../storage/words.ts'
import { visibleTo } from '../users/visible.ts'

export const orderFields = ['name', 'id', 'created_at'] as const
export type OrderField = (typeof orderFields)[number]

export interface MemberFilter {
  app: number
  by: Principal
  /** true: members; false: people who could become members; null: everybody with access, and visible people. */
  isMember: boolean | null
  isAgent: boolean | null
  withSystem: boolean
  isPrefix: boolean
}

/** One page of the ids of an app's members, or of candidates, and how many there are. */
export async function listMemberIds(
  sql: Sql,
  filter: MemberFilter,
  page: Page<OrderField>,
): Promise<{ ids: number[]; count: number }> {
  const from = toSource(sql, filter, page)
  const [total] = await sql<{ count: number }[]>`select count(*) as count ${from}`
  const count = total?.count ?? 0
  if (page.countOnly || page.skip >= count) return { ids: [], count }
  const rows = await sql<{ id: number }[]>`
    select u.id ${from}
    order by ${toOrder(sql, page.order)}
    limit ${page.take} offset ${page.skip}`
  return { ids: rows.map(row => row.id), count }
}

/** Members go out from the app (primary key of members), others from the people whom the caller can see. */
function toSource(sql: Sql, { app, by, isMember, isAgent, withSystem, isPrefix }: MemberFilter, page: Page): Fragment {
  const query = toTsQuery(page.q, isPrefix)
  const members = sql`u.id in (select user_id from members where app_id = ${app} and access is not null)`
  const visible = sql`(${visibleTo(sql, by)} and u.id > 0)`
  const system = withSystem ? sql`or u.id = 0` : sql``
  const who =
    isMember === null
      ? sql`(${members} or ${visible} ${system})`
      : isMember
        ? sql`(${members} ${system})`
        : sql`(not ${members} and (${visible} ${system}))`
  return sql`
    from users u
    where ${who}
      ${isAgent === null ? sql`` : sql`and u.is_agent = ${isAgent}`}
      ${toTrashed(sql, by, page.trashed)}
      ${page.tags.length === 0 ? sql`` : sql`and u.tags && ${page.tags}`}
      ${query === null ? sql`` : sql`and u.search @@ ${query}::tsquery`}`
}

/** Trashed people show themselves to API keys, which may restore them. */
function toTrashed(sql: Sql, { kind }: Principal, trashed: boolean | null): Fragment {
  if (trashed === true) return kind === 'key' ? sql`and u.trashed_at is not null` : sql`and false`
  return trashed === null && kind === 'key' ? sql`` : sql`and u.trashed_at is null`
}

function toOrder(sql: Sql, order: OrderKey<OrderField>[]): Fragment {
  return order
    .map(({ field, descending }) => {
      const column = field === 'name' ? sql`lower(u.display_name)` : sql`u.${sql(field)}`
      return descending ? sql`${column} desc` : column
    })
    .reduce((all, key) => sql`${all}, ${key}`)
}

/** The apps in which somebody is a member who can leave. Served by members_user. */
export async function listMemberships(sql: Sql, user: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select a.id from members m join apps a on a.id = m.app_id
    where m.user_id = ${user} and m.access is not null
      and a.deleted_at is null and a.type not in ('private_chat', 'agent_chat')
    order by a.id`
  return rows.map(({ id }) => id)
}
