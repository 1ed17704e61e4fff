import { toFields } from '../../../resources/apps/content-fields.ts'
import { kinds } from '../../../resources/content/kinds.ts'
import type { ContentRow } from '../../../resources/content/schema.ts'
import { listMentions } from '../../../resources/content/text/render.ts'
import { listEmbeds } from '../../../resources/embeds/store.ts'
import type { DraftLine } from '../format.ts'
import { pages, pageSize, toLine, withoutBlanks } from './lines.ts'
import type { Source } from './source.ts'

type ContentType = keyof typeof kinds
interface FileRow {
  id: number
  parent_id: number | null
  created_by: number
  updated_by: number | null
  versions: { blob: number; created_at: string; created_by: number }[]
}

/** The items of an app in the order of their ids, each with what hangs on it. Of a user, those that the user wrote. */
export async function* listItems(source: Source, app: number): AsyncGenerator<DraftLine> {
  const { db, scope } = source
  const isWanted = scope.user === null ? '' : `and created_by = ${scope.user}`
  const tables = Object.entries({
    message: '',
    post: '',
    // What a comment is about may have been deleted, and the comment not yet.
    comment: `and (parent_id is null or exists (select from posts p where p.id = comments.parent_id)
      or exists (select from files f where f.id = comments.parent_id))`,
    file: 'and parent_id is null',
  }).map(
    ([type, isThere]) => `(select '${type}' as type, id from ${type}s
      where app_id = ${app} and id > $1 ${isThere} ${isWanted}
      order by app_id, id limit ${pageSize})`,
  )
  const find = (after: number) =>
    db.unsafe<{ type: ContentType | 'file'; id: number }[]>(
      `${tables.join(' union all ')} order by id limit ${pageSize}`,
      [after],
    )
  for await (const page of pages(find)) {
    const content = new Map<number, ContentRow>()
    for (const { entity, store } of Object.values(kinds)) {
      const ids = page.flatMap(({ type, id }) => (type === entity ? [id] : []))
      if (ids.length > 0) for (const [id, row] of await store.findMany(db, ids)) content.set(id, row)
    }
    const ids = page.map(({ id }) => id)
    const files = await findFiles(source, ids)
    const lines = await toContentLines(source, [...content.values()])
    yield* lines.before
    for (const { type, id } of page) {
      if (type !== 'file') yield toLine(type, { app, ...lines.members.get(id) })
      for (const file of files) if (file.id === id || file.parent_id === id) yield* toFileLines(source, app, file)
    }
    yield* listAttached(source, [...ids, ...files.map(file => file.id)])
  }
}

/** The members of content lines, by id, and the lines that they need before. */
async function toContentLines({ db, scope, users, blobs }: Source, rows: ContentRow[]) {
  const toIds = (column: 'embed_id' | 'meeting_id') => rows.flatMap(row => row[column] ?? [])
  const embeds = await listEmbeds(db, toIds('embed_id'))
  const meetings = new Map(
    (
      await db<{ id: number; created_by: number }[]>`
        select id, provider, provider_id, join_url, code, metadata, created_at, created_by
        from meetings where id = any(${toIds('meeting_id')}::bigint[])`
    ).map(row => [row.id, row]),
  )
  const options = await db<{ item_id: number; text: string }[]>`
    select item_id, text from options where item_id = any(${rows.map(({ id }) => id)}::bigint[]) order by item_id, position`
  const byItem = Map.groupBy(options, ({ item_id }) => item_id)
  const parts = [...embeds.values(), ...meetings.values()]
  const mentioned = new Map(rows.map(({ id, html }) => [id, listMentions(html)]))
  const before = async function* (): AsyncGenerator<DraftLine> {
    yield* users.add([...rows, ...parts].map(({ created_by }) => created_by))
    yield* users.add([...rows.map(({ updated_by }) => updated_by), ...[...mentioned.values()].flat()])
    yield* blobs.list(
      [...embeds.values()].flatMap(({ image_id }) => image_id ?? []),
      () => 'system',
    )
    for (const row of rows) members.set(row.id, toMembers(row))
  }
  const authored = <Part extends { id: number; created_by: number }>({ id: _, created_by, ...part }: Part) =>
    withoutBlanks({ ...part, created_by: users.ref(created_by) })
  const toEmbed = ({ image: _, image_id, ...embed }: NonNullable<ReturnType<typeof embeds.get>>) => ({
    ...authored(embed),
    ...(blobs.has(image_id) && { image: String(image_id) }),
    checked_at: undefined,
  })
  const toMembers = ({ id, text, ...row }: ContentRow) => {
    const { created_at, updated_at, trashed_at, parent_id, updated_by } = row
    const embed = row.embed_id === null ? undefined : embeds.get(row.embed_id)
    const meeting = row.meeting_id === null ? undefined : meetings.get(row.meeting_id)
    return {
      ...{ id, parent: parent_id && String(parent_id), text, ...toFields(row) },
      // Without it, an import would take all that the text names.
      ...(text?.includes('](') && { mentions: named(mentioned.get(id)!) }),
      options: byItem.get(id)?.map(option => option.text),
      embed: embed && toEmbed(embed),
      meeting: meeting && authored(meeting),
      ...{ created_at, created_by: users.ref(row.created_by), updated_at, trashed_at },
      updated_by: users.ref(updated_by),
    }
  }
  const named = (ids: number[]) => ids.filter(id => !users.isGone(id) && scope.user === null).map(String)
  const members = new Map<number, object>()
  return { before: before(), members }
}

/** Files among some items, and attachments of these. */
function findFiles({ db }: Source, ids: number[]) {
  return db<FileRow[]>`
    select f.id, f.parent_id, f.name, f.metadata, f.tags, f.created_at, f.created_by, f.updated_at, f.updated_by, f.trashed_at,
      (select json_agg(json_build_object('blob', v.blob_id, 'created_at', v.created_at, 'created_by', v.created_by) order by v.rev)
        from file_versions v where v.file_id = f.id) as versions
    from files f where f.id = any(${ids}::bigint[])
    union all
    select f.id, f.parent_id, f.name, f.metadata, f.tags, f.created_at, f.created_by, f.updated_at, f.updated_by, f.trashed_at,
      (select json_agg(json_build_object('blob', v.blob_id, 'created_at', v.created_at, 'created_by', v.created_by) order by v.rev)
        from file_versions v where v.file_id = f.id)
    from files f where f.parent_id = any(${ids}::bigint[])
    order by id`
}

async function* toFileLines({ users, blobs }: Source, app: number, file: FileRow): AsyncGenerator<DraftLine> {
  const { parent_id, versions, created_by, updated_by, ...row } = file
  yield* users.add([created_by, updated_by, ...versions.map(version => version.created_by)])
  for (const { blob, created_by } of versions) yield* blobs.list([blob], () => users.ref(created_by))
  const kept = versions.filter(({ blob }) => blobs.has(blob))
  if (kept.length === 0) return
  yield toLine('file', {
    ...row,
    app,
    item: parent_id,
    versions: kept.map(({ blob, created_at, created_by }) => ({
      blob: String(blob),
      created_at: new Date(created_at),
      created_by: users.ref(created_by),
    })),
    created_by: users.ref(created_by),
    updated_by: users.ref(updated_by),
  })
}

interface AttachedRow {
  type: 'reaction' | 'vote' | 'star' | 'subscription'
  item: number
  user: number
}

/** Reactions, votes, stars and subscriptions that meet a condition on their item or user. */
function selectAttached({ db }: Source, item: string, user: string, values: number[]) {
  return db.unsafe<AttachedRow[]>(
    `select * from (
      select 'reaction' as type, item_id as item, user_id as user, id as place, content, created_at,
        null::int as option, null::boolean as is_subscribed
      from reactions x where ${item.replaceAll('$item', 'item_id')} and ${user}
      union all
      select 'vote', item_id, user_id, id, null, null,
        (select count(*)::int from options o where o.item_id = x.item_id
          and o.position < (select position from options p where p.id = x.option_id)), null
      from votes x where ${item.replaceAll('$item', 'item_id')} and ${user}
      union all
      select 'star', entity_id, user_id, 0, null, created_at, null, null
      from stars x where ${item.replaceAll('$item', 'entity_id')} and ${user}
      union all
      select 'subscription', entity_id, user_id, since, null, null, null, is_subscribed
      from subscriptions x where ${item.replaceAll('$item', 'entity_id')} and ${user}
    ) a order by place, item, "user"`,
    [`{${values.join()}}`],
  )
}

async function* listAttached(source: Source, items: number[]): AsyncGenerator<DraftLine> {
  const { users, scope } = source
  // Stars and subscriptions say what others look at.
  const isWanted = scope.user === null ? 'true' : `(user_id = ${scope.user} or 'reactions'::regclass = x.tableoid)`
  const rows = await selectAttached(source, '$item = any($1::bigint[])', isWanted, items)
  yield* users.add(rows.map(({ user }) => user))
  yield* toAttachedLines(source, rows)
}

/** What a user has attached to items of others. */
export async function* listOwnAttached(source: Source, user: number): AsyncGenerator<DraftLine> {
  const own = `$item not in (${['messages', 'posts', 'comments', 'files'].map(table => `select id from ${table} where created_by = ${user}`).join(' union all ')})`
  yield* toAttachedLines(source, await selectAttached(source, own, 'user_id = any($1::bigint[])', [user]))
}

function* toAttachedLines({ users }: Source, rows: AttachedRow[]): Generator<DraftLine> {
  for (const { type, user, ...row } of rows) {
    const { place: _, ...members } = row as typeof row & { place: number }
    if (users.isGone(user)) continue
    const line = toLine(type, { ...members, user: users.ref(user) })
    yield line.type === 'subscription' ? { ...line, is_subscribed: line.is_subscribed ?? false } : line
  }
}
