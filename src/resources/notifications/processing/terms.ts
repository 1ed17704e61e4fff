import { inPortions } from '../../../jobs/portions.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { cachedQuery } from '../../../postgres/cached-query.ts'
import { countRows, type Db, type Fragment, type Sql, type Tx } from '../../../postgres/sql.ts'
import { hasWords } from '../../../postgres/word-search.ts'
import { busyCommands } from './pace.ts'
import { findNewestChange } from '../store.ts'

/** Up to this many notifications of a user are searched one by one. Measured: 20 ms. */
const askedNotifications = 4_000

/**
 * Texts to start from, for each notification that is searched otherwise: finding a text's recipients takes a fraction
 * of reading a notification. A guess.
 */
const textsFor = 2

/**
 * The most notifications whose ids are carried through a query; more are checked again for the total and the page. A
 * guess.
 */
const carriedIds = 250_000

/**
 * How long the result of a search may be reused: searching 200,000 notifications takes some seconds. Newer ones are
 * searched each time, so only edited texts can be outdated.
 */
const rememberedMs = 30_000

/** The most cached searches: 2 MB each at most. A guess. */
const rememberedSearches = 20

/** Notifications in one transaction of the job. Measured: 20 ms where all of them say something else. */
const portionSize = 1_000

/**
 * A condition on `n`: each word of `q` begins a word of the notification's text. `user` null: all users.
 *
 * For a user with many notifications it is answered from the words that a job keeps, and newer notifications are
 * searched one by one. Where a word is in nearly all notifications, all of the user's are searched: 20 µs for each.
 */
export async function toTextMatch(db: Db, user: number | null, q: string): Promise<{ hasWordsOf: Fragment }> {
  const hasThem = hasWords(db, textOf(db), q)
  const isOf = user === null ? db`true` : db`n.user_id = ${user}`
  const count = await countRows(db, db`select from notifications n where ${isOf} limit ${askedNotifications + 1}`)
  if (count <= askedNotifications) return { hasWordsOf: hasThem }
  const { ids, upTo } = await findMatches(db as Sql, { user, q })
  if (ids === null) return { hasWordsOf: hasThem }
  const fresh = await db<{ id: number }[]>`
    select n.id from notifications n where ${isOf} and n.id > ${upTo} and ${hasThem} limit ${carriedIds}`
  return { hasWordsOf: db`n.id = any(${[...ids, ...fresh.map(({ id }) => id)]}::bigint[])` }
}

/** Matches among notifications up to an id. */
interface Matches {
  /** Null: too many. */
  ids: number[] | null
  upTo: number
}

const findMatches = cachedQuery(
  rememberedMs,
  async (sql: Sql, { user, q }: { user: number | null; q: string }): Promise<Matches> => {
    const hasThem = hasWords(sql, textOf(sql), q)
    const isOf = user === null ? sql`true` : sql`n.user_id = ${user}`
    const texts = sql`notification_terms where terms @@ name_query(${q}, true, true)`
    const asked = await countRows(sql, sql`select from notifications n where ${isOf} limit ${carriedIds}`)
    const fewTexts = textsFor * asked
    const isCommon = (await countRows(sql, sql`select from ${texts} limit ${fewTexts + 1}`)) > fewTexts
    const [cursor] = await sql<{ id: number }[]>`select id from notification_terms_cursor`
    const upTo = cursor?.id ?? 0
    const selection = isCommon
      ? sql`select n.id from notifications n where ${isOf} and n.id <= ${upTo} and ${hasThem}`
      : sql`
        with texts as materialized (select id, link_id from ${texts})
        select n.id from (
          -- With the condition on the text in this query, PostgreSQL would check it first, for all rows of the user.
          select n.id, n.template, n.args from notifications n
          where n.link_id in (select link_id from texts) and ${isOf} and n.id <= ${upTo} offset 0
        ) n where ${hasThem}
        union all
        select n.id from texts t join notifications n on n.id = t.id where t.link_id is null and ${isOf} and ${hasThem}`
    const found = await sql<{ id: number }[]>`${selection} limit ${carriedIds + 1}`
    return { ids: found.length > carriedIds ? null : found.map(({ id }) => id), upTo }
  },
  rememberedSearches,
)

/** The text of `n`, with its Markdown. */
function textOf(db: Db): Fragment {
  return db`regexp_replace(n.template, '[{][0-9][}]', ' ', 'g') || ' ' || array_to_string(n.args, ' ')`
}

/**
 * Indexes the words of some notifications, a query for `n`: one row for all with equal texts about one item. A
 * concurrent removal of one waits, and removes its words too.
 */
function addTerms(tx: Tx, rows: Fragment): Fragment {
  return tx`
    insert into notification_terms as kept (id, link_id, terms)
    select min(n.id), n.link_id, name_terms(${textOf(tx)}) from (${rows} for key share) n
    group by n.link_id, n.template, n.args, case when n.link_id is null then n.id end
    on conflict (id) do update set terms = kept.terms || excluded.terms`
}

/** Indexes the words of a notification whose text has changed. */
export async function indexChanged(tx: Tx, id: number): Promise<void> {
  // Meanwhile the job adds nothing: two that add to the same rows could wait for each other.
  await tx`select from notification_terms_cursor for share`
  await addTerms(tx, tx`select id, link_id, template, args from notifications where id = ${id}`)
}

/** A condition: there may be notifications that are not indexed yet. */
const isAnyWithoutTerms = `exists (
  select from notification_terms_cursor c
  where c.next_id <> c.id or c.next_xid is not null or c.id < (select max(id) from notifications))`

const periodMs = 5_000

/** How long the job works in each period: a tenth of one connection's time, however much is left. A guess. */
const workMs = 500

interface JobParts {
  sql: Sql
  /** Commands that wait for commits now. */
  waiting: () => number
  /** Called with the number of notifications, at most, that cannot yet be found by their words. */
  observe: (waiting: number) => void
}

/**
 * Indexes the words of new notifications; not while many users write, and never for long, so that live notifications
 * are not delayed. Ids are drawn in order, but committed in any: the cursor passes ids that were drawn before all
 * running transactions began.
 */
export function termJob({ sql, waiting, observe }: JobParts): Job {
  const portion = () => (waiting() > busyCommands ? Promise.resolve(0) : sql.begin(advance))
  return {
    name: 'keep the words of notifications',
    periodMs,
    dueWhere: isAnyWithoutTerms,
    async run(signal) {
      const endMs = performance.now() + workMs
      await inPortions(portionSize, signal, async () => (performance.now() < endMs ? await portion() : 0))
      const left = await countWaiting(sql)
      observe(left)
      return left === 0
    },
  }
}

/** By their numbers, of which some may be unused. */
async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select (select coalesce(max(id), 0) from notifications) - id as count from notification_terms_cursor`
  return Math.max(0, row?.count ?? 0)
}

interface Cursor {
  id: number
  next_id: number
  is_known: boolean
  is_over: boolean
}

/** Indexes one portion; returns its number of notifications. */
async function advance(tx: Tx): Promise<number> {
  const [cursor] = await tx<Cursor[]>`
    select id, next_id, next_xid is not null as is_known,
      coalesce(next_xid <= pg_snapshot_xmin(pg_current_snapshot()), false) as is_over
    from notification_terms_cursor for update skip locked`
  if (cursor === undefined) return 0
  if (!cursor.is_known) {
    // On an idle server, writing the cursor would itself be a commit.
    if (cursor.id === cursor.next_id && cursor.id === (await findNewestChange(tx))) return 0
    // One turn after the ids were drawn: their transactions have begun to write by now.
    await tx`update notification_terms_cursor set next_xid = pg_current_xact_id()`
    return 0
  }
  if (!cursor.is_over) return 0
  const rows = tx`select id, link_id, template, args from notifications where id > ${cursor.id} and id <= ${cursor.next_id}`
  const [portion] = await tx<{ count: number; last: number | null }[]>`
    select count(*) as count, max(id) as last from (${rows} order by id limit ${portionSize}) n`
  const { count, last } = portion!
  if (count > 0) await addTerms(tx, tx`${rows} and id <= ${last}`)
  if (count === portionSize) await tx`update notification_terms_cursor set id = ${last}`
  else {
    await tx`
      update notification_terms_cursor
      set id = next_id, next_id = ${await findNewestChange(tx)}, next_xid = null`
  }
  return count
}
