import { batch, WriteStatement } from '../../postgres/batch.ts'
import type { Db, Fragment, Tx } from '../../postgres/sql.ts'
import { isShown } from './lists/hidden.ts'
import { listRolled } from './rolled/store.ts'
import type { Change, Draft, NotificationRow } from './schema.ts'

const insertNotifications = batch<Omit<NotificationRow, 'app_uid' | 'app_name' | 'app_type' | 'updated_at' | 'rolled'>>(
  {
    name: 'insert_notifications',
    columns: {
      id: 'bigint',
      user_id: 'bigint',
      app_id: 'bigint',
      type: 'text',
      action: 'text',
      actor_ids: 'text',
      template: 'text',
      args: 'text[]',
      link_type: 'text',
      link_id: 'bigint',
      parent_type: 'text',
      parent_id: 'bigint',
      metadata: 'jsonb',
      is_unread: 'boolean',
      created_at: 'timestamptz',
      changed_id: 'bigint',
      change: 'text',
      from_id: 'bigint',
    },
    uniform: ['type', 'action', 'template', 'link_type', 'parent_type', 'parent_id', 'metadata', 'is_unread', 'change'],
    // Skips users who have been deleted, or have just marked an earlier notification of the app as unread.
    sql: rows => `
    insert into notifications (id, user_id, app_id, type, action, actor_ids, template, args, link_type, link_id,
      parent_type, parent_id, metadata, is_unread, created_at, changed_id, change, from_id)
    select id, user_id, app_id, type, action, actor_ids::bigint[], template, args, link_type, link_id,
      parent_type, parent_id, metadata, is_unread, created_at, changed_id, change, from_id from ${rows} r
    where exists (select from users u where u.id = r.user_id)
    on conflict (app_id, user_id) where from_id is not null and is_unread do nothing`,
  },
)

/**
 * Inserts notifications of any number of users in one statement; returns their ids in order. Like all statements that
 * draw change numbers, it assigns the transaction's id first: the feed checks which of these transactions are open.
 */
export async function insertDrafts(tx: Tx, drafts: Draft[]): Promise<number[]> {
  if (drafts.length === 0) return []
  const numbers = await tx<{ id: number; transaction: string }[]>`
    select nextval('notification_changes') as id, transaction::text
    from pg_current_xact_id() transaction, generate_series(1, ${drafts.length}::int)`
  const statement = new WriteStatement()
  const rows = drafts.map((draft, i) => ({
    ...draft,
    id: numbers[i]!.id,
    actor_ids: `{${draft.actor_ids.join(',')}}` as unknown as number[],
    is_unread: true,
    changed_id: numbers[i]!.id,
    change: 'notification_created' as const,
  }))
  statement.add(insertNotifications, rows)
  const { text, params } = statement.finishInTransaction(numbers[0]!.transaction)
  await tx.unsafe(text, params, { prepare: true })
  return numbers.map(({ id }) => id)
}

/** Notifications by id, whatever has become of their subjects. */
export async function listByIds(db: Db, ids: number[]): Promise<NotificationRow[]> {
  return withRolled(db, await db<NotificationRow[]>`${selectFrom(db)} where n.id = any(${ids}::bigint[]) order by n.id`)
}

/** A notification that is visible to a user; `user` null, as for an API key: any. */
export async function findNotification(db: Db, id: number, user: number | null): Promise<NotificationRow | null> {
  const isOf = user === null ? db`true` : db`n.user_id = ${user} and ${isShown(db)}`
  const rows = await db<NotificationRow[]>`${selectFrom(db)} where n.id = ${id} and ${isOf}`
  const [row] = await withRolled(db, rows)
  return row ?? null
}

/**
 * Marks a notification as read or unread. A rolled-up one stands for the messages up to when it is read; unread again,
 * it stands for later ones too, and replaces the notification made meanwhile.
 */
export async function updateUnread(tx: Tx, id: number, isUnread: boolean): Promise<void> {
  if (isUnread) {
    await tx`
      delete from notifications o using notifications n
      where n.id = ${id} and n.from_id is not null and o.app_id = n.app_id and o.user_id = n.user_id and o.id <> n.id
        and o.from_id is not null and o.is_unread`
  }
  await tx`
    update notifications n
    set is_unread = ${isUnread}, until_id = ${isUnread ? tx`null` : untilNow(tx)},
      changed_id = nextval('notification_changes'), change = 'notification_updated'
    from pg_current_xact_id()
    where id = ${id}`
}

export interface Marking {
  user: number
  /** This notification and all earlier ones. */
  upTo?: number | undefined
  app?: number | undefined
  directory?: number | undefined
}

/**
 * Marks unread notifications as read; false where there were none. It is one change with one number. Rows are locked in
 * the order of ids, so that two marks do not wait for each other. Served by notifications_unread.
 */
export async function markRead(tx: Tx, { user, upTo, app, directory }: Marking): Promise<boolean> {
  const { count } = await tx`
    with hit as materialized (
      select n.id from notifications n
      where n.user_id = ${user} and n.is_unread
        ${upTo === undefined ? tx`` : tx`and n.id <= ${upTo}`}
        ${app === undefined ? tx`` : tx`and n.app_id = ${app}`}
        ${directory === undefined ? tx`` : tx`and n.app_id in (select a.id from apps a where a.directory_id = ${directory})`}
      order by n.id for no key update of n
    ), numbered as materialized (
      select nextval('notification_changes') as change_id from pg_current_xact_id() where exists (select from hit)
    )
    update notifications n
    set is_unread = false, until_id = ${untilNow(tx)}, changed_id = c.change_id,
      change = ${'notifications_marked' satisfies Change}
    from hit h, numbered c
    where n.id = h.id`
  return count > 0
}

/** The last message that a rolled-up notification `n` stands for when it is read; null for other notifications. */
function untilNow(db: Db): Fragment {
  return db`
    case when n.from_id is not null
      then greatest(n.from_id, (select a.last_id from apps a where a.id = n.app_id)) end`
}

export async function removeNotification(db: Db, id: number): Promise<void> {
  await db`delete from notifications where id = ${id}`
}

/** Removes up to `limit` older notifications; returns how many. Served by notifications_age. */
export async function removeOld(db: Db, before: Date, limit: number): Promise<number> {
  const { count } = await db`
    delete from notifications where id in (
      select id from notifications where created_at < ${before} order by created_at limit ${limit}
      for update skip locked)`
  return count
}

/** A change, and one of the notifications that it changed; all are of one user. */
export type ChangeKey = Pick<NotificationRow, 'id' | 'user_id' | 'changed_id' | 'change'>

/** The changes for some users after a number, in order. Served by notifications_changed. */
export function listChanges(db: Db, users: number[], after: number, limit: number): Promise<ChangeKey[]> {
  return db<ChangeKey[]>`
    select min(id) as id, user_id, changed_id, min(change) as change from notifications
    where user_id = any(${users}::bigint[]) and changed_id > ${after}
    group by user_id, changed_id order by changed_id limit ${limit}`
}

/** A query whose result differs after a change, committed or not. */
export const anyChange = 'select last_value from notification_changes'

export async function findNewestChange(db: Db): Promise<number> {
  const [row] = await db<
    { id: number }[]
  >`select case when is_called then last_value else 0 end as id from notification_changes`
  return row!.id
}

/** Adds the messages of rolled-up notifications. */
async function withRolled(db: Db, rows: NotificationRow[]): Promise<NotificationRow[]> {
  const ids = rows.flatMap(({ id, from_id }) => (from_id === null ? [] : [id]))
  const rolled = await listRolled(db, ids)
  return rolled.size === 0 ? rows : rows.map(row => ({ ...row, rolled: rolled.get(row.id) }))
}

function selectFrom(db: Db): Fragment {
  return db`
    select n.*, a.uid as app_uid, a.name as app_name, a.type as app_type from notifications n left join apps a on a.id = n.app_id`
}

interface Link {
  app_id: number
  parent_type: string | null
  parent_id: number | null
}

const tables = { message: 'messages', post: 'posts', comment: 'comments', file: 'files' } as const

/** The place of a notification's subject; null where it does not exist or is in the trash. */
export async function findLink(db: Db, type: 'app' | keyof typeof tables, id: number): Promise<Link | null> {
  if (type === 'app') {
    const [app] = await db<Link[]>`
      select id as app_id, null as parent_type, null::bigint as parent_id from apps
      where id = ${id} and trashed_at is null and deleted_at is null`
    return app ?? null
  }
  const [item] = await db<Link[]>`
    select app_id, parent_type, parent_id from ${db(tables[type])} where id = ${id} and trashed_at is null`
  return item ?? null
}

/**
 * True where a notification's subject exists, which then holds until the transaction ends: a later deletion finds the
 * notification. The app's commands wait meanwhile.
 */
export async function holdLink(tx: Tx, { app_id, link_type, link_id }: Draft): Promise<boolean> {
  if (link_type === null || link_id === null || app_id === null) return true
  const apps = await tx`
    select from apps where id = ${app_id} and trashed_at is null and deleted_at is null for share`
  if (apps.length === 0 || link_type === 'app') return apps.length > 0
  const items = await tx`
    select from ${tx(tables[link_type])} where id = ${link_id} and trashed_at is null for key share`
  return items.length > 0
}
