import { batch } from '../../../postgres/batch.ts'
import type { Db, Fragment, Sql, Tx } from '../../../postgres/sql.ts'
import { isShown } from './hidden.ts'
import type { Draft } from '../schema.ts'

/** A change after which notifications may become hidden or visible; see the table notification_audits. */
interface Audit {
  id: number
  kind: 'link' | 'parent' | 'rolled' | 'app' | 'member' | 'user'
  app_id: number | null
  user_id: number | null
  entity_id: number | null
  /** The last notification that was processed. */
  last_user_id: number
  last_id: number
}

/**
 * Written by the commit in which a user joins an app: some of the user's earlier notifications about it may be hidden.
 */
export const auditMember = batch({
  name: 'audit_members',
  columns: { app_id: 'bigint', user_id: 'bigint' },
  sql: rows => `
    insert into notification_audits (kind, app_id, user_id)
    select 'member', app_id, user_id from ${rows} r
    where exists (
      select from notifications n where n.app_id = r.app_id and n.user_id = r.user_id and n.is_hidden)`,
})

/** Requests a check of new notifications about items in the trash. */
export async function auditItems(tx: Tx, drafts: Pick<Draft, 'app_id' | 'link_id' | 'parent_id'>[]): Promise<void> {
  const items = [...new Map(drafts.map(draft => [draft.link_id, draft])).values()].filter(
    ({ link_id }) => link_id !== null,
  )
  if (items.length === 0) return
  const isTrashed = (table: string, id: Fragment) =>
    tx`exists (select from ${tx(table)} t where t.id = ${id} and t.trashed_at is not null)`
  await tx`
    insert into notification_audits (kind, app_id, entity_id)
    select 'link', app_id, id
    from unnest(${items.map(({ app_id }) => app_id)}::bigint[], ${items.map(({ link_id }) => link_id)}::bigint[],
      ${items.map(({ parent_id }) => parent_id)}::bigint[]) i(app_id, id, parent_id)
    where ${isTrashed('messages', tx`i.id`)} or ${isTrashed('comments', tx`i.id`)}
      or ${isTrashed('posts', tx`any(array[i.id, i.parent_id])`)} or ${isTrashed('files', tx`any(array[i.id, i.parent_id])`)}`
}

/** Requests a check of rolled-up notifications in an app of messages. */
export async function auditRolled(tx: Tx, app: number): Promise<void> {
  await tx`insert into notification_audits (kind, app_id) values ('rolled', ${app})`
}

/**
 * The most open audits that lists evaluate themselves, newest first, and the most notifications for these. Guesses: 20
 * ms.
 */
const openAudits = 1_000
const openNotifications = 2_000

/** Notifications whose visibility is about to change. Nearly always none. */
export interface Outdated {
  /** Ids of notifications that are stored as visible, but are hidden. */
  hidden: number[]
  /** Ids of notifications that are stored as hidden, but are visible. */
  shown: number[]
}

const upToDate: Outdated = { hidden: [], shown: [] }

/**
 * The notifications matching `wanted`, a condition on `n`, whose stored visibility is outdated. While thousands change
 * at once, the stored one is used.
 */
export async function findOutdated(db: Db, user: number | null, wanted: Fragment): Promise<Outdated> {
  const audits = await listOpen(db, user)
  if (audits.length === 0) return upToDate
  const of = (kind: Audit['kind']) => audits.filter(audit => audit.kind === kind)
  const entities = (kind: Audit['kind']) => of(kind).map(({ entity_id }) => entity_id)
  const apps = (kind: Audit['kind']) => of(kind).map(({ app_id }) => app_id)
  const users = (kind: Audit['kind']) => of(kind).map(({ user_id }) => user_id)
  const rows = await db<{ id: number; is_hidden: boolean }[]>`
    select n.id, n.is_hidden from (
      select n.id from notifications n
      where n.link_id = any(${entities('link')}::bigint[]) and n.link_type <> 'app' and ${wanted}
      union
      select n.id from notifications n where n.parent_id = any(${entities('parent')}::bigint[]) and ${wanted}
      union
      select n.id from notifications n
      where n.app_id = any(${apps('rolled')}::bigint[]) and n.from_id is not null and ${wanted}
      union
      select n.id from notifications n where n.app_id = any(${apps('app')}::bigint[]) and ${wanted}
      union
      select n.id from unnest(${apps('member')}::bigint[], ${users('member')}::bigint[]) a(app_id, user_id)
      join notifications n on n.app_id = a.app_id and n.user_id = a.user_id where ${wanted}
      union
      select n.id from notifications n where n.user_id = any(${users('user')}::bigint[]) and ${wanted}
      limit ${openNotifications}
    ) open join notifications n on n.id = open.id
    where n.is_hidden = ${isShown(db)}`
  return {
    hidden: rows.flatMap(({ id, is_hidden }) => (is_hidden ? [] : [id])),
    shown: rows.flatMap(({ id, is_hidden }) => (is_hidden ? [id] : [])),
  }
}

/** Changes since the last update of the stored visibility, and deletions that have not been processed yet. */
function listOpen(db: Db, user: number | null): Promise<Audit[]> {
  return db<Audit[]>`
    select kind, app_id, user_id, entity_id from (
      select * from notification_audits order by id desc limit ${openAudits}
    ) a
    where ${user === null ? db`true` : db`(user_id is null or user_id = ${user})`}
    union
    select kind, o.app_id, null, case when kind = 'rolled' then null else e.id end
    from notifiable o
    left join notification_cursors c on c.app_id = o.app_id
    cross join lateral (
      select entity_id as id, type from events
      where app_id = o.app_id and rev > coalesce(c.rev, 0) and type ~ '^(message|post|comment|file)_(deleted|updated)$'
    ) e
    cross join lateral (
      select 'link' as kind
      union all select case when e.type like 'message%' then 'rolled' else 'parent' end where e.type not like 'comment%'
    ) k`
}

/** A condition on `n`: it is visible, considering recent changes. */
export function isListed(db: Db, { hidden, shown }: Outdated): Fragment {
  if (hidden.length === 0 && shown.length === 0) return db`not n.is_hidden`
  return db`(not n.is_hidden and n.id <> all(${hidden}::bigint[]) or n.id = any(${shown}::bigint[]))`
}

/** A condition: some change has not been processed. */
export const isAnyAudit = 'exists (select from notification_audits)'

/** Notifications in one transaction. Measured: 30 ms. */
const portionSize = 1_000

/** Changes in one transaction, where each concerns few notifications. A guess. */
const auditsAtOnce = 100

/**
 * Stores the visibility of a portion of the notifications that changes concern; false where there is nothing to do now.
 * A change waits until all transactions have ended that were running when it was first seen, because they may still
 * write notifications based on the earlier state. Any number of nodes may run it at once.
 */
export async function processAudits(sql: Sql): Promise<boolean> {
  return sql.begin(async tx => {
    await tx`
      update notification_audits set next_xid = pg_current_xact_id()
      where id in (select id from notification_audits where next_xid is null order by id limit ${openAudits} for update skip locked)`
    const audits = await tx<Audit[]>`
      select * from notification_audits where next_xid <= pg_snapshot_xmin(pg_current_snapshot())
      order by id limit ${auditsAtOnce} for update skip locked`
    const done = new Set<string>()
    let marked = 0
    for (const audit of audits) {
      if (marked >= portionSize) break
      const { id, kind, app_id, user_id, entity_id } = audit
      const question = [kind, app_id, user_id, entity_id].join()
      // Equal audits that waited as long are processed with the first.
      const { count, next } = done.has(question) ? finished : await markPortion(tx, audit)
      marked += count
      if (next !== null) await tx`update notification_audits set ${tx(next)} where id = ${id}`
      else {
        if (audit.last_id === 0) done.add(question)
        await tx`delete from notification_audits where id = ${id}`
      }
    }
    return audits.length > 0
  })
}

interface Portion {
  count: number
  /** Where the next one begins; null where nothing is left. */
  next: Pick<Audit, 'last_user_id' | 'last_id'> | null
}

const finished: Portion = { count: 0, next: null }

async function markPortion(tx: Tx, audit: Audit): Promise<Portion> {
  const [portion] = await tx<{ count: number; last_user_id: number; last_id: number }[]>`
    with portion as materialized (
      select n.id, n.user_id from notifications n
      where ${concerns(tx, audit)} and (n.user_id, n.id) > (${audit.last_user_id}, ${audit.last_id})
      order by n.user_id, n.id limit ${portionSize}
    ),
    changed as (
      update notifications set is_hidden = not is_hidden where id in (
        select n.id from portion join notifications n on n.id = portion.id
        where n.is_hidden = ${isShown(tx)} order by n.id for no key update of n)
    )
    select user_id as last_user_id, id as last_id, count(*) over () as count from portion
    order by user_id desc, id desc limit 1`
  if (portion === undefined) return finished
  const { count, ...last } = portion
  return { count, next: count < portionSize ? null : last }
}

/**
 * A condition: the audit concerns `n`. Served by notifications_link, notifications_parent, notifications_app and
 * notifications_listed.
 */
function concerns(tx: Tx, { kind, app_id, user_id, entity_id }: Audit): Fragment {
  if (kind === 'link') return tx`n.link_id = ${entity_id} and n.link_type <> 'app'`
  if (kind === 'parent') return tx`n.parent_id = ${entity_id}`
  if (kind === 'rolled') return tx`n.app_id = ${app_id} and n.from_id is not null`
  if (kind === 'app') return tx`n.app_id = ${app_id}`
  if (kind === 'member') return tx`n.app_id = ${app_id} and n.user_id = ${user_id}`
  return tx`n.user_id = ${user_id}`
}
