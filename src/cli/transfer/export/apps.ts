import { deletedUser } from '../../../auth/principal.ts'
import type { DraftLine } from '../format.ts'
import { pages, pageSize, toLine } from './lines.ts'
import type { Source } from './source.ts'

interface AppRow {
  id: number
  type: string
  directory_id: number | null
  owner_id: number | null
  picture_id: number | null
  pair: string | null
  created_by: number
  updated_by: number | null
}

interface MemberRow {
  id: number
  joined_rev: number | null
  marked: number | null
  archived: number | null
  hidden: number | null
}

interface AppLines {
  id: number
  lines: AsyncIterable<DraftLine>
  /** What members have read and set names items, so it comes after these. */
  members: AsyncIterable<DraftLine>
}

/** The apps of a scope: of a user, those that the user belongs to, or has written in. */
export async function* listApps(source: Source): AsyncGenerator<AppLines> {
  const { db, scope } = source
  const isIts =
    scope.app === null
      ? scope.user === null
        ? db`true`
        : db`id in (
            select app_id from members where user_id = ${scope.user}
            union select app_id from messages where created_by = ${scope.user}
            union select app_id from posts where created_by = ${scope.user}
            union select app_id from comments where created_by = ${scope.user}
            union select app_id from files where created_by = ${scope.user} and parent_id is null)`
      : db`id = ${scope.app}`
  const find = (after: number) => db<AppRow[]>`
    select id, type, uid, name, description, metadata, tags, access, directory_id, owner_id, picture_id, pair, is_joinable,
      created_at, created_by, updated_at, updated_by, trashed_at
    from apps where deleted_at is null and id > ${after} and ${isIts} order by id limit ${pageSize}`
  for await (const rows of pages(find))
    for (const row of rows) yield { id: row.id, lines: toLines(source, row), members: listMembers(source, row.id) }
}

async function* toLines({ users, blobs, scope }: Source, row: AppRow): AsyncGenerator<DraftLine> {
  const { id, type: kind, directory_id, owner_id, picture_id, pair, created_by, updated_by, ...rest } = row
  const two = kind === 'private_chat' ? (pair?.split(':').map(Number) ?? [deletedUser, deletedUser]) : []
  yield* users.add([created_by, updated_by, owner_id, ...two])
  yield toLine('app', {
    ...rest,
    id,
    kind,
    // Without one of the two, it is the chat of no pair.
    pair: two.some(users.isGone) ? ['deleted', 'deleted'] : two.map(users.ref),
    owner: users.ref(owner_id),
    directory: scope.user === null ? directory_id : null,
    created_by: users.ref(created_by),
    updated_by: users.ref(updated_by),
  })
  if (picture_id === null || scope.user !== null) return
  yield* blobs.list([picture_id], () => users.ref(created_by))
  if (blobs.has(picture_id)) yield { type: 'picture', app: String(id), blob: String(picture_id) }
}

/** Members in the order in which they joined, and others who have settings there. */
async function* listMembers({ db, scope: { user }, users }: Source, app: number): AsyncGenerator<DraftLine> {
  const newestUpTo = (column: string) =>
    db.unsafe(
      `(select max(i.id) from messages i where i.app_id = m.app_id and i.parent_id is null and i.id <= m.${column})`,
    )
  const isWanted = user === null ? db`true` : db`user_id = ${user}`
  const rows = await db<MemberRow[]>`
    select user_id as id, access, marked_at, pinned_at, starred_at, is_removed, is_subscribed,
      ${newestUpTo('marked_id')} as marked, ${newestUpTo('archived_id')} as archived, ${newestUpTo('hidden_id')} as hidden
    from members m where app_id = ${app} and ${isWanted} order by joined_rev nulls last, user_id`
  yield* users.add(rows.map(({ id }) => id))
  // A private chat shows that the other member was deleted.
  for (const { id, ...row } of rows) yield toLine('member', { app, user: users.ref(id), ...row })
}
