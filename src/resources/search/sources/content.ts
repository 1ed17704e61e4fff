import type { Db, Fragment } from '../../../postgres/sql.ts'
import { hasPhrases } from '../../../postgres/word-search.ts'
import type { ContentKind } from '../../content/kind.ts'
import { findNewest } from '../../content/lists/newest.ts'
import type { Feature } from '../schema.ts'
import { isMadeWithin, selectRanked, withAsked, type Asked, type Ranked, type Source } from './source.ts'

/** Conditions on `t`, a row of content. */
const conditions: Record<Feature, (db: Db) => Fragment> = {
  file: db => db`t.attachment_count > 0`,
  link: db => db`(t.embed_id is not null or t.text ~ 'https?://')`,
  poll: db => db`t.option_count > 0`,
}

/** Messages, posts or comments. */
export function contentSource({ store, fits, parents }: ContentKind): Source {
  const { table } = store
  const isIn = (type: string) =>
    fits(type) || (type === 'posts' && 'post' in parents) || (type === 'files' && 'file' in parents)
  return {
    find({ sql, by }, asked, window, { apps: readable, types, itemCount, ...reach }) {
      const apps = readable?.filter((_, at) => isIn(types[at]!)) ?? null
      const { createdBy, words, phrases } = asked
      const scope = { ...reach, apps, author: by.user, ...(createdBy !== undefined && { createdBy }) }
      const where = sql`
        ${isMadeWithin(sql, sql`t.created_at`, asked)}
        ${asked.has.reduce((all, feature) => sql`${all} and ${conditions[feature](sql)}`, sql``)}
        ${hasPhrases(sql, sql`coalesce(t.plain, t.text)`, phrases)}`
      return findNewest(sql, { table, scope, itemCount, q: words, where }, window)
    },
    async rank({ sql }, asked: Asked, ids) {
      const rows = await sql<Ranked[]>`
        ${withAsked(sql, asked)}
        select t.id, ${selectRanked(sql, sql`t.created_at`, sql`''`, sql`coalesce(t.plain, t.text)`)}
        from ${sql(table)} t, asked where t.id = any(${ids}::bigint[])`
      return Array.from(rows)
    },
  }
}
