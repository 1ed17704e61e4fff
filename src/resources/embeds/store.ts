import type { Db, Fragment, Sql, Tx } from '../../postgres/sql.ts'
import { selectReadable } from '../apps/members/readable.ts'
import { isSeen, selectItems } from '../content/seen.ts'
import type { EmbedRow } from './schema.ts'

export type NewEmbedRow = Omit<EmbedRow, 'id' | 'image'>

export async function insertEmbed(tx: Tx, { metadata, ...row }: NewEmbedRow): Promise<EmbedRow> {
  const text = metadata === null ? null : JSON.stringify(metadata)
  const [inserted] = await tx<{ id: number }[]>`
    insert into embeds (type, title, description, image_id, url, actions, metadata, author_name, author_url,
      provider_name, provider_url, html, width, height, source, created_at, created_by, checked_at)
    values (${row.type}, ${row.title}, ${row.description}, ${row.image_id}, ${row.url}, ${row.actions},
      ${text}::text::jsonb, ${row.author_name}, ${row.author_url}, ${row.provider_name}, ${row.provider_url},
      ${row.html}, ${row.width}, ${row.height}, ${row.source}, ${row.created_at}, ${row.created_by}, ${row.created_at})
    returning id`
  return (await findEmbed(tx, inserted!.id))!
}

/** `select … from embeds e`, as EmbedRow. Served by the primary key of blobs. */
function selectEmbeds(db: Db): Fragment {
  return db`
    select e.*, to_jsonb(b) - '{created_at,checked_at}'::text[] as image
    from embeds e left join blobs b on b.id = e.image_id`
}

export async function findEmbed(db: Db, id: number): Promise<EmbedRow | null> {
  const [row] = await db<EmbedRow[]>`${selectEmbeds(db)} where e.id = ${id}`
  return row ?? null
}

/** Embeds by id. */
export async function listEmbeds(db: Db, ids: number[]): Promise<Map<number, EmbedRow>> {
  const rows = await db<EmbedRow[]>`${selectEmbeds(db)} where e.id = any(${ids}::bigint[])`
  return new Map(rows.map(row => [row.id, row]))
}

/** The newest embed made from a URL since a time. Served by embeds_source. */
export async function findRecent(db: Db, source: string, since: Date): Promise<EmbedRow | null> {
  const [row] = await db<EmbedRow[]>`
    ${selectEmbeds(db)}
    where e.source is not null and hashtextextended(e.source, 0) = hashtextextended(${source}, 0)
      and e.source = ${source} and e.created_at > ${since}
    order by e.created_at desc, e.id desc limit 1`
  return row ?? null
}

/** Defers the removal of an embed that is about to be used. False where it is gone. */
export async function claimEmbed(db: Db, id: number, now: Date): Promise<boolean> {
  const { count } = await db`update embeds set checked_at = ${now} where id = ${id}`
  return count > 0
}

/** Of concurrent transactions that make an embed from one URL, each waits for the others; the first one makes it. */
export async function takeTurn(tx: Tx, source: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${source}, 7213003))`
}

/** Lets a user use an embed that another one made. */
export async function insertReader(db: Db, embed: number, user: number): Promise<void> {
  await db`insert into embed_readers (embed_id, user_id) values (${embed}, ${user}) on conflict do nothing`
}

/** True for a user who made an embed, or asked for its URL. */
export async function isReader(db: Db, { id, created_by }: EmbedRow, user: number): Promise<boolean> {
  if (created_by === user) return true
  const [row] = await db`select from embed_readers where embed_id = ${id} and user_id = ${user}`
  return row !== undefined
}

/**
 * True where a user, who is in `directories`, may read an item with the embed. Served by messages_embed and the like.
 */
export async function isInSight(sql: Sql, embed: number, user: number, directories: number[]): Promise<boolean> {
  const [row] = await sql<{ is_in_sight: boolean }[]>`
    with items as (${selectItems(sql, sql`t.embed_id = ${embed}`)}),
    readable as (${selectReadable(sql, user, directories, sql`a.id in (select app_id from items)`)})
    select exists (
      select from items t join readable a on a.id = t.app_id where ${isSeen(sql, user)}
    ) as is_in_sight`
  return row!.is_in_sight
}
