import type { Principal } from '../../auth/principal.ts'
import type { Sql } from '../../postgres/sql.ts'
import { selectReadable } from '../apps/members/readable.ts'
import { isVisibleTo } from '../users/visible.ts'
import { isSeen, selectItems } from './seen.ts'

/**
 * True where a user may read something that uses a blob: a file, one of its versions, an item that it is attached to or
 * whose embed shows it; or see the app or user whose picture it is. `directories`: the user's.
 *
 * In one statement, because thousands of apps may share a picture. Served by file_versions_blob, apps_picture,
 * embeds_image, messages_embed and the like, users_picture.
 */
export async function isInSight(sql: Sql, blob: number, by: Principal, directories: number[]): Promise<boolean> {
  const [row] = await sql<{ is_in_sight: boolean }[]>`
    with held as (
      select id, app_id, parent_id, trashed_at from files
      where id in (select file_id from file_versions where blob_id = ${blob})
    ), items as (
      ${selectItems(sql, sql`t.id in (select parent_id from held)`)}
      union all
      ${selectItems(sql, sql`t.embed_id in (select id from embeds where image_id = ${blob})`)}
    ), pictured as (
      select id as app_id from apps where picture_id = ${blob}
    ), used as (
      select app_id from held union select app_id from items union select app_id from pictured
    ), readable as (
      ${selectReadable(sql, by.user, directories, sql`a.id in (select app_id from used)`)}
    )
    select
      exists (select from pictured p join readable a on a.id = p.app_id)
      or exists (
        select from held f join readable a on a.id = f.app_id
        where f.parent_id is null and (f.trashed_at is null or a.can_write))
      or exists (select from items t join readable a on a.id = t.app_id where ${isSeen(sql, by.user)})
      or exists (select from users u where u.picture_id = ${blob} and ${isVisibleTo(sql, by)}) as is_in_sight`
  return row!.is_in_sight
}
