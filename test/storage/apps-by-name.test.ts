import { expect, test } from 'vitest'
import { listApps } from '../../src/resources/apps/lists/pages.ts'
import { orderFields, type AppFilter } from '../../src/resources/apps/lists/source.ts'
import { toPage } from '../../src/api/page.ts'
import { createDatabase } from '../support/database.ts'

/** So many that what they are called is remembered. */
const count = 10_000
const ann = 1

test.each(['user', 'key'] as const)(
  'very many apps by name are gathered once for all pages (%s); what is no longer listed is missing',
  async kind => {
    await using database = await createDatabase()
    const { sql } = database
    await sql`insert into users (id, uid, display_name, created_at) values (${ann}, 'ann', 'Ann', now())`
    await sql`
      insert into apps (id, type, name, rev, head_rev, created_at, created_by)
      select i, 'chat_room', 'Room ' || lpad((${count} - i)::text, 5, '0'), i, i, now(), 1 from generate_series(1, ${count}::int) i`
    await sql`insert into members (app_id, user_id, access, joined_rev) select id, ${ann}, 'write', 1 from apps`
    await sql`vacuum analyze`
    const by = { kind, user: kind === 'key' ? 0 : ann, credential: '' }
    const filter: AppFilter = {
      ...{ by, types: [], directory: null, member: null, isArchived: null, isUnread: null, hasUid: null, uids: null },
    }
    const list = (query: object) => listApps(sql, filter, toPage({ take: 3, ...query }, orderFields, 'id'))
    const first = await list({ order_by: 'name' })
    const found = await list({ q: 'room' })

    await sql`update apps set trashed_at = now() where id = ${count - 4}`
    await sql`update apps set name = 'Zoo' where id = ${count - 3}`
    const second = await list({ order_by: 'name', skip: 3 })

    expect(first).toEqual({ ids: [count, count - 1, count - 2], count })
    expect(found).toEqual({ ids: [1, 2, 3], count })
    expect(second).toEqual({ ids: [count - 3, count - 5], count })
  },
)
