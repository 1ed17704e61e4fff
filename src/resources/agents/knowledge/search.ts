import type { Sql } from '../../../postgres/sql.ts'
import { findKnowledge } from './store.ts'

/** The most words of a question that are searched: a question is short, a pasted page is not. A guess. */
const mostWords = 32

/** Characters of a question that are considered. */
const questionLength = 4_000

/** A word in more passages than this is ignored where there is a rarer one, because each passage is ranked. A guess. */
const commonWord = 2_000

/** The most passages of a result, passages of one file, and bytes in all. Rules of the API. */
const mostPassages = 8
const mostOfFile = 2
const mostBytes = 4_000 * 3

/** From this length on, a word also matches as a prefix: `invoice` in `invoices`. A guess. */
const prefixLength = 4

/** A piece of a file that an agent searches. */
interface Passage {
  file: number
  name: string
  /** The position in the file, such as `page 3`; null where it has none. */
  place: string | null
  text: string
}

/**
 * The best passages of an agent's files for a question or some words, best first: at most 8, at most 2 per file. Searches
 * by words, like all other searches. A passage ranks by the words of the question that it contains, rare words counting
 * more: otherwise questions would find what says `is` most often.
 */
export async function searchPassages(sql: Sql, agent: number, query: string): Promise<Passage[]> {
  const apps = await findKnowledge(sql, agent)
  if (apps.length === 0) return []
  const [asked] = await sql<{ words: string[] }[]>`
    select question_words(${query.slice(0, questionLength).toWellFormed().replaceAll('\0', '')}) as words`
  const terms = toTerms(asked!.words).slice(0, mostWords)
  return terms.length === 0 ? [] : choose(await rank(sql, apps, terms))
}

function rank(sql: Sql, apps: number[], terms: Term[]): Promise<Passage[]> {
  const queries = terms.map(({ queryIn }) => apps.map(queryIn).join(' | '))
  const weights = terms.map(({ weight }) => weight)
  return sql<Passage[]>`
    with asked as (
      select term::tsquery as query, weight, held
      from unnest(${queries}::text[], ${weights}::bigint[]) t(term, weight), lateral (
        select count(*) as held
        from (select from knowledge_passages p where p.terms @@ term::tsquery limit ${commonWord + 1}) h) h
      where held > 0
    ), chosen as materialized (
      select query, weight / ln(2 + held) as weight from asked
      where held <= ${commonWord} or not exists (select from asked where held <= ${commonWord})
      order by weight / ln(2 + held) desc limit 12
    ), ranked as (
      select p.file_id, p.n, sum(weight * ts_rank_cd('{0.5,0.5,0.5,1}', p.terms, query, 32)) as score
      from chosen, lateral (
        select * from knowledge_passages p where p.terms @@ query limit ${commonWord}) p
      group by p.file_id, p.n
    )
    select r.file_id as file, f.name, p.place, p.text
    from ranked r
    join knowledge_passages p on p.file_id = r.file_id and p.n = r.n
    join files f on f.id = r.file_id and f.trashed_at is null and f.app_id = any(${apps}::bigint[])
    join apps a on a.id = f.app_id and a.trashed_at is null and a.deleted_at is null
    order by r.score desc, r.file_id, r.n limit ${mostPassages * 5}`
}

function choose(ranked: readonly Passage[]): Passage[] {
  const chosen: Passage[] = []
  const ofFile = new Map<number, number>()
  let bytes = 0
  for (const passage of ranked) {
    const before = ofFile.get(passage.file) ?? 0
    const size = Buffer.byteLength(passage.text)
    if (before >= mostOfFile || (chosen.length > 0 && bytes + size > mostBytes)) continue
    ofFile.set(passage.file, before + 1)
    bytes += size
    chosen.push(passage)
    if (chosen.length === mostPassages) break
  }
  return chosen
}

/** Scripts without spaces: each character is a word, and two of them say much more than one. */
const unspaced = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]$/u

/** A word or a pair of words to search for. */
interface Term {
  /** The query that matches it in an app. */
  queryIn: (app: number) => string
  /** Short words, such as `is`, say less than long ones in every language with words. A guess. */
  weight: number
}

/** Longer words count no more. */
const longWord = 8

function toTerms(words: readonly string[]): Term[] {
  const found = new Map<string, Term>()
  for (const [index, word] of words.entries()) {
    const next = words[index + 1]
    if (unspaced.test(word) && next !== undefined && unspaced.test(next)) {
      const queryIn = (app: number) => `(${quote(app, word)} <-> ${quote(app, next)})`
      found.set(`${word} ${next}`, { queryIn, weight: longWord ** 3 })
    } else if (!unspaced.test(word) || !unspaced.test(words[index - 1] ?? '')) {
      const queryIn = (app: number) => `${quote(app, word)}${word.length >= prefixLength ? ':*' : ''}`
      found.set(word, { queryIn, weight: Math.min(word.length, longWord) ** 3 })
    }
  }
  return [...found.values()]
}

function quote(app: number, word: string): string {
  return `'${app} ${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
