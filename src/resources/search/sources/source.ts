import type { Db, Fragment } from '../../../postgres/sql.ts'
import type { Reach } from '../../apps/members/readable.ts'
import type { Served } from '../../route.ts'
import type { Question } from '../question.ts'
import type { Feature } from '../schema.ts'

/** What is asked of a kind, beside the order. */
export interface Asked extends Question {
  from: Date | undefined
  to: Date | undefined
  has: readonly Feature[]
  /** Only what this user wrote or added. */
  createdBy: number | undefined
}

/** The apps whose content the caller may read: null for an API key that names none. */
export type Readable = Pick<Reach, 'hidden' | 'readOnly' | 'types' | 'itemCount'> &
  Record<'apps' | 'administered', number[] | null>

export type Caller = Served<'sql' | 'by' | 'userCache'>

/** Which finds are wanted; see `findNewest`. */
export interface Window {
  before: number | undefined
  need: number
  enough: number
}

/** A find, when it was made in milliseconds, and how well it fits. */
export interface Ranked {
  id: number
  at: number
  score: number
}

/** One kind of what is searched. */
export interface Source {
  /** The ids of what is found, newest first. */
  find: (caller: Caller, asked: Asked, window: Window, readable: Readable) => Promise<number[]>
  /** What has gone meanwhile is missing. */
  rank: (caller: Caller, asked: Asked, ids: number[]) => Promise<Ranked[]>
}

/** `with asked as …`, for `toScore`. */
export function withAsked(db: Db, { words }: Question): Fragment {
  return db`with asked as materialized (
    select query, replace(query::text, ':*', '')::tsquery as whole from search_query('{0}', ${words}, '{}') query)`
}

/** The longest part of a text that is ranked. A guess: 1 ms. */
const rankedCharacters = 10_000

/**
 * How well a name and a text fit, as two columns of a `select … from …, asked`: their words count more where they are near
 * each other, whole, and in a name, and less in a long text. It follows from the item alone, so that pages do not shift.
 */
export function selectRanked(db: Db, createdAt: Fragment, name: Fragment, text: Fragment): Fragment {
  const terms = db`passage_terms(0, coalesce(${name}, ''), left(coalesce(${text}, ''), ${rankedCharacters}))`
  return db`
    (extract(epoch from ${createdAt}) * 1000)::bigint as at,
    (select ts_rank(terms, query, 1) + ts_rank(terms, whole, 1) from (select ${terms} as terms offset 0) r)::float8 as score`
}

/** Conditions on when something was made, each with `and` in front. */
export function isMadeWithin(db: Db, createdAt: Fragment, { from, to }: Asked): Fragment {
  return db`
    ${from === undefined ? db`` : db`and ${createdAt} >= ${from}`}
    ${to === undefined ? db`` : db`and ${createdAt} < ${to}`}`
}
