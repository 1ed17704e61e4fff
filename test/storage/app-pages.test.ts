import { expect, test } from 'vitest'
import { blankMember, type AppRow, type MemberRow } from '../../src/engine/state.ts'
import { findApp, listMembers } from '../../src/engine/store.ts'
import { listApps } from '../../src/resources/apps/lists/pages.ts'
import { orderFields } from '../../src/resources/apps/lists/source.ts'
import { isArchived, isHidden, isUnread } from '../../src/resources/apps/own/unread.ts'
import { toPage } from '../../src/api/page.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from '../support/database.ts'

const [ann, ben] = [1, 2]

/** Apps with Ann in them, in every state that what is unread, archived or removed hangs on. */
async function insertStates(sql: Sql): Promise<void> {
  await sql`
    with states as (
      select row_number() over () as id, * from
        unnest(array['chat_room', 'posts']) type, unnest(array[${ann}, ${ben}]::bigint[]) last_by,
        unnest(array[null, 30]::bigint[]) last_id, unnest(array[null, 20]::bigint[]) prior_id,
        unnest(array[null, 10, 20, 30]::bigint[]) marked_id, unnest(array[null, 20, 30]::bigint[]) hidden_id,
        unnest(array[null, 20, 30]::bigint[]) archived_id, unnest(array[false, true]) is_removed
    ), inserted as (
      insert into apps (id, type, rev, head_rev, created_at, created_by, last_by, last_id, prior_id)
      select id, type, id, id, now(), ${ben}::bigint, last_by, last_id, prior_id from states
    )
    insert into members (app_id, user_id, access, joined_rev, marked_id, hidden_id, archived_id, is_removed)
    select id, ${ann}::bigint, 'write', 1, marked_id, hidden_id, archived_id, is_removed from states`
}

test('lists of apps take the same for unread, archived and removed as the apps themselves', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await insertStates(sql)
  const rows = await sql<{ id: number }[]>`select id from apps order by id`
  const states = await Promise.all(
    rows.map(async ({ id }): Promise<[AppRow, MemberRow]> => {
      const [app, [own]] = await Promise.all([findApp(sql, id), listMembers(sql, id)])
      return [app!, own ?? blankMember(id, ann)]
    }),
  )
  const listed = states.filter(([app, own]) => !isHidden(app, own))
  const idsOf = (those: typeof states) => those.map(([{ id }]) => id)
  const find = async (asked: { isUnread?: boolean; isArchived?: boolean }) => {
    const by = { kind: 'user', user: ann, credential: '' } as const
    const all = { directory: null, member: null, isArchived: null, isUnread: null, hasUid: null, uids: null }
    const page = { ...toPage({}, orderFields, 'id'), take: states.length }
    return (await listApps(sql, { ...all, types: [], by, ...asked }, page)).ids
  }

  expect(states).toHaveLength(1_152)
  expect(await find({})).toEqual(idsOf(listed))
  for (const is of [true, false]) {
    const unread = listed.filter(([app, own]) => isUnread(app, ann, own) === is)
    expect(await find({ isUnread: is })).toEqual(idsOf(unread))
    const archived = listed.filter(([app, own]) => isArchived(app, ann, own) === is)
    expect(await find({ isArchived: is })).toEqual(idsOf(archived))
  }
})
