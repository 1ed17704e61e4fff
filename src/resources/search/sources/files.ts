import { hasPhrases } from '../../../postgres/word-search.ts'
import { toFilter } from '../../files/store.ts'
import { selectPassage } from '../store.ts'
import { selectAttached } from './attachments.ts'
import { isMadeWithin, selectRanked, withAsked, type Ranked, type Source } from './source.ts'

/**
 * Files of files apps and attachments by their names, and by the text of those that agents search, which alone is kept. Served
 * by files_search, files_search_all, files_attached and knowledge_passages_terms.
 */
export const files: Source = {
  async find({ sql }, asked, window, reach) {
    const { before, need } = window
    const { apps: readable, types } = reach
    // A file has no files, links or polls.
    if (asked.has.length > 0) return []
    const apps = readable?.filter((_, at) => types[at] === 'files') ?? null
    if (readable?.length === 0) return []
    const { words: q, phrases, createdBy } = asked
    const scope = { apps, writable: [], ...(createdBy !== undefined && { createdBy }) }
    const page = { skip: 0, take: need, countOnly: false, order: [], tags: [], trashed: false }
    const where = sql`
      ${isMadeWithin(sql, sql`f.created_at`, asked)} ${before === undefined ? sql`` : sql`and f.id < ${before}`}`
    const rows = await sql<{ id: number }[]>`
      with named as materialized (
        select f.id from files f
        where ${toFilter(sql, scope, { ...page, q })} ${where} ${hasPhrases(sql, sql`f.name`, phrases)}
      ), told as materialized (
        select f.id from files f
        where ${toFilter(sql, scope, { ...page, q: undefined })} ${where} and f.id = any(array(
          select p.file_id from knowledge_apps k cross join lateral (
            select file_id from knowledge_passages p
            where p.terms @@ search_query(array[k.app_id], ${q}, '{}') ${hasPhrases(sql, sql`p.text`, phrases)}
            offset 0
          ) p
          where ${apps === null ? sql`true` : sql`(k.app_id in (select unnest(${apps}::bigint[]))) is true`}))
          and exists (select from ${selectPassage(sql, asked)})
      )
      select id from named union select id from told union (${selectAttached(sql, asked, window, reach)}) order by id desc limit ${need}`
    return rows.map(({ id }) => id)
  },
  async rank({ sql }, asked, ids) {
    const rows = await sql<Ranked[]>`
      ${withAsked(sql, asked)}
      select f.id, ${selectRanked(sql, sql`f.created_at`, sql`f.name`, sql`p.text`)}
      from files f left join lateral ${selectPassage(sql, asked)} on true, asked where f.id = any(${ids}::bigint[])`
    return Array.from(rows)
  },
}
