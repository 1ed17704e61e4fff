import { hasPhrases } from '../../../postgres/word-search.ts'
import { toNamed, toVisible } from '../../users/lists/sets.ts'
import { isMadeWithin, selectRanked, withAsked, type Ranked, type Source } from './source.ts'

/** People and agents whom the caller sees, by their names, as in the list of users. */
export const people: Source = {
  async find({ sql, by }, asked, { before, need }) {
    const { words, phrases } = asked
    const visible = by.kind === 'key' ? sql`` : sql`and ${toVisible(sql, by).has}`
    // Named ones are sorted first and then looked at until there are enough: whom a caller sees takes 10 µs each.
    const rows = await sql<{ id: number }[]>`
      select u.id from (
        select u.* from users u
        where ${toNamed(sql, words, true, by).has} and u.trashed_at is null and u.id > 0
          ${before === undefined ? sql`` : sql`and u.id < ${before}`}
          ${isMadeWithin(sql, sql`u.created_at`, asked)}
          ${hasPhrases(sql, sql`concat_ws(' ', u.display_name, u.name, u.nickname)`, phrases)}
        order by u.id desc offset 0
      ) u
      where true ${visible}
      order by u.id desc limit ${need}`
    return rows.map(({ id }) => id)
  },
  async rank({ sql }, asked, ids) {
    const rows = await sql<Ranked[]>`
      ${withAsked(sql, asked)}
      select u.id, ${selectRanked(sql, sql`u.created_at`, sql`u.display_name`, sql`concat_ws(' ', u.nickname, u.uid)`)}
      from users u, asked where u.id = any(${ids}::bigint[]) and u.trashed_at is null`
    return Array.from(rows)
  },
}
