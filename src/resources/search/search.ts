import { toAppIds } from '../apps/find.ts'
import { gatherReach } from '../apps/members/readable.ts'
import { hasContent } from '../apps/store.ts'
import { toAuthor } from '../content/author.ts'
import { kinds as contentKinds } from '../content/kinds.ts'
import { readCursor, writeCursor, type Before } from './cursor.ts'
import { readQuestion, type Question } from './question.ts'
import { kinds, type Kind, type SearchQuery } from './schema.ts'
import { apps } from './sources/apps.ts'
import { contentSource } from './sources/content.ts'
import { files } from './sources/files.ts'
import { people } from './sources/people.ts'
import type { Asked, Caller, Ranked, Readable, Source } from './sources/source.ts'

/** The newest finds of each kind that are ranked. A rule of the API. */
const rankedFinds = 100

const sources: Record<Kind, Source> = {
  messages: contentSource(contentKinds.message),
  posts: contentSource(contentKinds.post),
  comments: contentSource(contentKinds.comment),
  files,
  people,
  apps,
}

export interface Find extends Ranked {
  kind: Kind
}

export interface Finds {
  finds: Find[]
  /** Undefined for the last page. */
  cursor: string | undefined
  question: Question
}

/**
 * A page of what the caller may see. By relevance, the newest finds of each kind are ranked anew for each page, without
 * finds that are newer than the first page; by time, each kind goes on where the page before ended.
 */
export async function search(query: SearchQuery, caller: Caller): Promise<Finds> {
  const cursor = readCursor(query)
  const { take = 25, order = 'relevance' } = query
  const isRanked = order === 'relevance'
  const question = readQuestion(query.q)
  const { createdBy } = await toAuthor({ created_by: query.by }, caller.sql)
  const asked: Asked = { ...question, from: query.from, to: query.to, has: query.has ?? [], createdBy }
  const readable = await toReadable(query, caller)
  const need = isRanked ? rankedFinds : take + 1
  const found: { kind: Kind; ids: number[]; finds: Find[] }[] = []
  // One after the other: a search has one turn, and so one connection.
  for (const kind of toKinds(query)) {
    const ids = await sources[kind].find(
      caller,
      asked,
      { before: cursor?.before[kind], need, enough: take + 1 },
      readable,
    )
    const ranked = ids.length === 0 ? [] : await sources[kind].rank(caller, asked, ids)
    found.push({ kind, ids, finds: ranked.map(find => ({ ...find, kind })) })
  }
  const { after } = cursor ?? {}
  const sorted = isRanked
    ? found.flatMap(({ finds }) => finds).toSorted(byRelevance)
    : mergeNewest(
        found.map(({ finds }) => finds),
        take + 1,
      )
  const rest = after === undefined ? sorted : sorted.filter(find => byRelevance(after, find) < 0)
  const finds = rest.slice(0, take)
  if (rest.length <= take) return { finds, cursor: undefined, question }
  const place = isRanked
    ? { before: cursor?.before ?? toNewest(found), after: finds.at(-1)! }
    : { before: toOldest(finds, cursor?.before) }
  return { finds, cursor: writeCursor(query, place), question }
}

/** Apps, people and what users write need not be asked for what they have not. */
function toKinds({ in: wanted = kinds as readonly Kind[] as Kind[], app, by, has }: SearchQuery): Kind[] {
  const isOfApps = app !== undefined || by !== undefined || has !== undefined
  return [...new Set(wanted)].filter(kind => !isOfApps || (kind !== 'people' && kind !== 'apps'))
}

async function toReadable(query: SearchQuery, caller: Caller): Promise<Readable> {
  const { sql, by, userCache } = caller
  const wanted = query.app === undefined ? undefined : await toAppIds(query.app, caller)
  const all = { hidden: [], administered: null, readOnly: [], itemCount: Infinity }
  if (by.kind === 'key' && wanted === undefined) return { ...all, apps: null, types: [] }
  const which = wanted === undefined ? hasContent(sql) : sql`a.id = any(${wanted}::bigint[])`
  if (by.kind === 'key') {
    const rows = await sql<{ id: number; type: string }[]>`
      select a.id, a.type from apps a where ${which} and a.trashed_at is null and a.deleted_at is null`
    return { ...all, apps: rows.map(({ id }) => id), types: rows.map(({ type }) => type) }
  }
  const directories = await userCache.directoriesOf(by.user)
  const { lively: _, ...reach } = await gatherReach(sql, {
    user: by.user,
    directories,
    which,
    counted: sql`true`,
    lively: 0,
    isTyped: true,
  })
  return reach
}

/** Best first; of equal ones the newest. */
function byRelevance(a: Find, b: Find): number {
  return b.score - a.score || b.at - a.at || kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || b.id - a.id
}

/**
 * The newest of all kinds, each of which stays in the order of its ids: by their times alone, what nodes with different
 * clocks made could be on no page.
 */
function mergeNewest(streams: Find[][], most: number): Find[] {
  const queues = streams.map(finds => finds.toSorted((a, b) => a.id - b.id))
  const merged: Find[] = []
  while (merged.length < most) {
    const heads = queues.filter(queue => queue.length > 0)
    if (heads.length === 0) break
    const newest = heads.reduce((best, queue) => (queue.at(-1)!.at > best.at(-1)!.at ? queue : best))
    merged.push(newest.pop()!)
  }
  return merged
}

/** The ids after those of the first page's newest finds. */
function toNewest(found: { kind: Kind; ids: number[] }[]): Before {
  return Object.fromEntries(found.map(({ kind, ids }) => [kind, (ids[0] ?? 0) + 1]))
}

/** Where each kind goes on: at its last find of the page. */
function toOldest(finds: Find[], before: Before = {}): Before {
  const oldest = { ...before }
  for (const { kind, id } of finds) oldest[kind] = Math.min(oldest[kind] ?? id, id)
  return oldest
}
