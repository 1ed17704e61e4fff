import type { Db, Fragment, Sql } from '../../postgres/sql.ts'
import { hasPhrases } from '../../postgres/word-search.ts'
import type { ContentRow } from '../content/schema.ts'
import type { Question } from './question.ts'

/** `(…) p`: the first passage of `f`, a file, that has what is looked for. Served by the primary key of knowledge_passages. */
export function selectPassage(db: Db, { words, phrases }: Question): Fragment {
  return db`(
    select p.text, p.place from knowledge_passages p
    where p.file_id = f.id and p.rev = f.rev and p.terms @@ search_query(array[f.app_id], ${words}, '{}')
      ${hasPhrases(db, db`p.text`, phrases)}
    order by p.n limit 1) p`
}

/** What is shown of a file. */
export interface FoundFile {
  id: number
  app_id: number
  /** Of an attachment: the item that it is on. */
  parent_type: ContentRow['parent_type']
  parent_id: number | null
  name: string
  created_by: number
  created_at: Date
  updated_at: Date | null
  /** Of the passage that was found, if one was. */
  text: string | null
  place: string | null
}

export async function findFiles(db: Db, question: Question, ids: number[]): Promise<FoundFile[]> {
  const rows = await db<FoundFile[]>`
    select f.id, f.app_id, f.parent_type, f.parent_id, f.name, f.created_by, f.created_at, f.updated_at, p.text, p.place
    from files f left join lateral ${selectPassage(db, question)} on true
    where f.id = any(${ids}::bigint[]) and f.trashed_at is null`
  return Array.from(rows)
}

/** Words as they are compared; see `fold` in words.sql. */
export async function foldWords(sql: Sql, words: string[]): Promise<string[]> {
  if (words.length === 0) return []
  const rows = await sql<{ folded: string }[]>`
    select fold(w) as folded from unnest(${words}::text[]) with ordinality t(w, n) order by n`
  return rows.map(({ folded }) => folded)
}
