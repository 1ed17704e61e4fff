import type { Db, Fragment } from '../../../postgres/sql.ts'
import { hasPhrases } from '../../../postgres/word-search.ts'
import { selectItems } from '../../content/seen.ts'
import { isMadeWithin, type Asked, type Readable, type Window } from './source.ts'

/**
 * `select id`, newest first: attachments of messages, posts and comments that are visible, by their names. Those with the words
 * are sorted first, and then looked at until there are enough. Served by files_attached.
 */
export function selectAttached(db: Db, asked: Asked, { before, need }: Window, { apps, hidden }: Readable): Fragment {
  const { words, phrases, createdBy } = asked
  return db`
    select f.id from (
      select f.id, f.app_id, f.parent_id from files f
      where f.parent_id is not null and f.trashed_at is null
        and search_terms(0, f.name, '{}') @@ (select search_query('{0}', ${words}, '{}'))
        ${hasPhrases(db, db`f.name`, phrases)} ${isMadeWithin(db, db`f.created_at`, asked)}
        ${before === undefined ? db`` : db`and f.id < ${before}`}
        ${createdBy === undefined ? db`` : db`and f.created_by = ${createdBy}`}
        and ${apps === null ? isInUse(db) : db`(f.app_id in (select unnest(${apps}::bigint[]))) is true`}
      order by f.id desc offset 0
    ) f
    where exists (select from (${selectItems(db, db`t.id = f.parent_id`)}) t where t.trashed_at is null)
      and not exists (
        select from unnest(${hidden.map(({ app }) => app)}::bigint[], ${hidden.map(({ id }) => id)}::bigint[]) h(app, id)
        where h.app = f.app_id and f.parent_id <= h.id)
    order by f.id desc limit ${need}`
}

function isInUse(db: Db): Fragment {
  return db`exists (select from apps a where a.id = f.app_id and a.trashed_at is null and a.deleted_at is null)`
}
