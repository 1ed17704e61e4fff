import { hasPhrases } from '../../../postgres/word-search.ts'
import { nameFor, toCalled } from '../../apps/lists/names.ts'
import { selectReadable } from '../../apps/members/readable.ts'
import { isMadeWithin, selectRanked, withAsked, type Ranked, type Source } from './source.ts'

/** Apps that the caller may read, by their titles for the caller, without those that the caller has removed. */
export const apps: Source = {
  async find({ sql, by, userCache }, asked, { before, need }) {
    const { words, phrases } = asked
    // As for a key: the other form asks for a membership, which readers of open apps need not have.
    const { isCalled } = await toCalled(sql, words, { ...by, kind: 'key' })
    const which = sql`${isCalled} ${isMadeWithin(sql, sql`a.created_at`, asked)}
      ${before === undefined ? sql`` : sql`and a.id < ${before}`}
      ${hasPhrases(sql, nameFor(sql, by), phrases)}
      and not exists (
        select from members r where r.app_id = a.id and r.user_id = ${by.user} and r.is_removed
          and coalesce(a.last_id, 0) <= coalesce(r.hidden_id, 0))`
    const readable =
      by.kind === 'key'
        ? sql`select a.id from apps a where a.trashed_at is null and a.deleted_at is null and ${which}`
        : selectReadable(sql, by.user, await userCache.directoriesOf(by.user), which)
    const rows = await sql<{ id: number }[]>`select id from (${readable}) a order by id desc limit ${need}`
    return rows.map(({ id }) => id)
  },
  async rank({ sql, by }, asked, ids) {
    const rows = await sql<Ranked[]>`
      ${withAsked(sql, asked)}
      select a.id, ${selectRanked(sql, sql`a.created_at`, nameFor(sql, by), sql`''`)}
      from apps a, asked where a.id = any(${ids}::bigint[])`
    return Array.from(rows)
  },
}
