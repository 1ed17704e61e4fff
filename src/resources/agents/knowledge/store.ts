import type { Db, Sql, Tx } from '../../../postgres/sql.ts'
import type { ExtractedPart } from '../../../agents/extraction/format.ts'

/** The lease of a file: three times the processor time that a file may take. A guess. */
const leaseSeconds = 60

/** Passages per statement: some 300 KB. A guess. */
const portion = 100

/** The most files that a result names as not searched. A guess. */
const mostUnread = 5

/** Days after which unused apps are removed from the index. A rule of the API. */
const unusedDays = 7

/** The files apps that an agent may search. */
export async function findKnowledge(db: Db, agent: number): Promise<number[]> {
  const [row] = await db<{ knowledge: number[] }[]>`select knowledge from agents where user_id = ${agent}`
  return row?.knowledge ?? []
}

/** A condition: agents search some app's files, or did. */
export const isAnySearched = `exists (select from knowledge_apps) or exists (select from agents where knowledge <> '{}')`

/** Records which apps agents search now, and since when none does. Served by agents_knowledge. */
export async function followAgents(sql: Sql): Promise<void> {
  await sql`
    with named as (
      select distinct unnest(a.knowledge) as app_id
      from agents a join users u on u.id = a.user_id
      where a.knowledge <> '{}' and u.trashed_at is null
    ), added as (
      insert into knowledge_apps (app_id)
      select app_id from named n where not exists (select from knowledge_apps k where k.app_id = n.app_id)
      on conflict do nothing
    ), used as (
      update knowledge_apps set unused_since = null
      where unused_since is not null and app_id in (select app_id from named)
    )
    update knowledge_apps set unused_since = now()
    where unused_since is null and app_id not in (select app_id from named)`
}

/** Apps with commits since they were last processed. Served by the primary keys of both. */
export async function listChanged(sql: Sql): Promise<number[]> {
  const rows = await sql<{ app_id: number }[]>`
    select k.app_id from knowledge_apps k join apps a on a.id = k.app_id where a.head_rev > k.rev`
  return rows.map(({ app_id }) => app_id)
}

/**
 * Updates the index of an app's files to its last commit: new or changed files become pending, deleted ones are
 * removed. Reads the changes from the event log; at first, and where the log may have been cut since, all files.
 */
export async function followApp(tx: Tx, app: number): Promise<void> {
  const [followed] = await tx<{ rev: number; is_whole: boolean }[]>`
    select rev, rev = 0 or followed_at < now() - interval '1 day' as is_whole
    from knowledge_apps where app_id = ${app} for update skip locked`
  const [found] = await tx<{ rev: number }[]>`select head_rev as rev from apps where id = ${app}`
  if (followed === undefined || found === undefined) return
  const changed = followed.is_whole ? null : await listFilesOf(tx, app, followed.rev, found.rev)
  if (changed === null || changed.length > 0) {
    await forgetGone(tx, app, changed)
    await noteNew(tx, app, changed)
  }
  await tx`update knowledge_apps set rev = ${found.rev}, followed_at = now() where app_id = ${app}`
}

/** Served as listEvents. */
async function listFilesOf(tx: Tx, app: number, after: number, upTo: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select distinct entity_id as id from events
    where app_id = ${app} and rev > ${after} and rev <= ${upTo} and entity_type = 'file'`
  return rows.map(({ id }) => id)
}

async function forgetGone(tx: Tx, app: number, ids: number[] | null): Promise<void> {
  await tx`
    with gone as (
      delete from knowledge_files k
      where k.app_id = ${app} and (${ids}::bigint[] is null or k.file_id = any(${ids}::bigint[]))
        and not exists (
          select from files f
          where f.id = k.file_id and f.app_id = k.app_id and f.parent_id is null and f.trashed_at is null)
      returning k.file_id
    )
    delete from knowledge_passages p using gone where p.file_id = gone.file_id`
}

/** External files have no content here. Served by files_app. */
async function noteNew(tx: Tx, app: number, ids: number[] | null): Promise<void> {
  await tx`
    insert into knowledge_files as k (file_id, app_id, rev, state, at)
    select f.id, f.app_id, f.rev, 'pending', now()
    from files f
    join file_versions v on v.file_id = f.id and v.rev = f.rev
    join blobs b on b.id = v.blob_id
    where f.app_id = ${app} and (${ids}::bigint[] is null or f.id = any(${ids}::bigint[]))
      and f.parent_id is null and f.trashed_at is null and b.key is not null
    on conflict (file_id) do update set rev = excluded.rev, app_id = excluded.app_id, state = 'pending', error = null,
      at = excluded.at, leased_by = null
    where k.rev <> excluded.rev`
}

export interface ClaimedFile {
  file_id: number
  rev: number
  app_id: number
}

/** A condition: a file is pending. Served by knowledge_files_pending. */
export const isAnyPending = `exists (select from knowledge_files where state = 'pending' and at <= now())`

/** Leases a pending file for this node; null where there is none. Served by knowledge_files_pending. */
export async function claimFile(sql: Sql, node: string): Promise<ClaimedFile | null> {
  const [row] = await sql<ClaimedFile[]>`
    update knowledge_files set at = now() + make_interval(secs => ${leaseSeconds}), leased_by = ${node}
    where file_id = (
      select file_id from knowledge_files where state = 'pending' and at <= now()
      order by at limit 1 for update skip locked)
    returning file_id, rev, app_id`
  return row ?? null
}

/** Lets another node read the file immediately. */
export async function releaseFile(sql: Sql, node: string, { file_id }: ClaimedFile): Promise<void> {
  await sql`
    update knowledge_files set at = now(), leased_by = null
    where file_id = ${file_id} and leased_by = ${node} and state = 'pending'`
}

/** Stores the result of reading a file, unless the file has changed or another node has it. */
export async function settleFile(
  sql: Sql,
  node: string,
  { file_id, rev, app_id }: ClaimedFile,
  outcome: { state: 'indexed' | 'skipped' | 'failed'; error: string | null; name: string; passages: ExtractedPart[] },
): Promise<void> {
  const { state, error, name, passages } = outcome
  await sql.begin(async tx => {
    const { count } = await tx`
      update knowledge_files
      set state = ${state}, error = ${error}, passages = ${passages.length}, at = now(), leased_by = null
      where file_id = ${file_id} and rev = ${rev} and leased_by = ${node} and state = 'pending'`
    if (count === 0) return
    await tx`delete from knowledge_passages where file_id = ${file_id}`
    for (let from = 0; from < passages.length; from += portion) {
      const some = passages.slice(from, from + portion)
      await tx`
        insert into knowledge_passages (file_id, rev, n, place, text, terms)
        select ${file_id}::bigint, ${rev}::bigint, ${from}::int + n, place, body, passage_terms(${app_id}, ${name}, body)
        from unnest(${some.map(({ place }) => place)}::text[], ${some.map(({ text }) => text)}::text[])
          with ordinality as t(place, body, n)`
    }
  })
}

/** Removes apps from the index that no agent has searched for days. */
export async function forgetUnused(sql: Sql): Promise<void> {
  await sql`
    with unused as (
      delete from knowledge_apps where unused_since < now() - make_interval(days => ${unusedDays}) returning app_id
    ), forgotten as (
      delete from knowledge_files k using unused where k.app_id = unused.app_id returning k.file_id
    )
    delete from knowledge_passages p using forgotten where p.file_id = forgotten.file_id`
}

/** A file that cannot be searched. */
export interface UnreadFile {
  name: string
  /** Why it could not be read; null where it is still to be read. */
  error: string | null
}

/**
 * Some files that an agent cannot search although they have a format that can be read, and how many there are. Served by
 * knowledge_files_app.
 */
export async function listUnread(db: Db, agent: number): Promise<{ files: UnreadFile[]; count: number }> {
  const rows = await db<(UnreadFile & { count: number })[]>`
    select f.name, k.error, count(*) over () as count
    from agents a
    join knowledge_files k on k.app_id = any(a.knowledge) and k.state in ('failed', 'pending')
    join files f on f.id = k.file_id and f.trashed_at is null
    where a.user_id = ${agent}
    order by k.file_id limit ${mostUnread}`
  return { files: Array.from(rows), count: rows[0]?.count ?? 0 }
}

/** A row of an administrator's list. */
export interface KnowledgeRow {
  file_id: number
  file_name: string
  app_id: number
  app_name: string | null
  state: string
  error: string | null
  passages: number
}

/** The files that an agent searches, by id. Served by knowledge_files_app. */
export async function listKnowledge(
  db: Db,
  apps: number[],
  { skip, take }: { skip: number; take: number },
): Promise<{ rows: KnowledgeRow[]; count: number }> {
  const [total] = await db<{ count: number }[]>`
    select count(*) as count from knowledge_files k join files f on f.id = k.file_id where k.app_id = any(${apps}::bigint[])`
  const rows = await db<KnowledgeRow[]>`
    select k.file_id, f.name as file_name, k.app_id, a.name as app_name, k.state, k.error, k.passages
    from knowledge_files k join files f on f.id = k.file_id join apps a on a.id = k.app_id
    where k.app_id = any(${apps}::bigint[])
    order by k.file_id limit ${take} offset ${skip}`
  return { rows: Array.from(rows), count: total?.count ?? 0 }
}
