import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Principal } from '../../src/auth/principal.ts'
import { listMemberIds } from '../../src/resources/apps/members/store.ts'
import { addUpDirectoryCounts } from '../../src/resources/users/lists/shown.ts'
import type { PersonFilter } from '../../src/resources/users/lists/crowd.ts'
import { listPersons } from '../../src/resources/users/lists/pages.ts'
import { toPage } from '../../src/api/page.ts'
import type { Db, Sql, Tx } from '../../src/postgres/sql.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

/** A large directory, a small one, and a room of people from the large one and from none, and of an agent that keeps to it. */
const [large, small, room, closed] = [1, 2, 1, 2]
const users = Array.from({ length: 6_000 }, (_, i) => i + 1)
const isAgent = (user: number) => user % 50 === 0
const isTrashed = (user: number) => user % 97 === 0
const isSelected = (user: number) => user % 7 === 0
let largeSize = 2_500
const inDirectory = (user: number) => (user <= largeSize ? large : user > 2_500 && user <= 2_600 ? small : null)
let roomSize = 6_000
const isInRoom = (user: number) => user <= 10 || user === 50 || (user > 3_500 && user <= roomSize)
const follows = (user: number, other: number) => (user === 4_001 ? other : other === 7 ? user : 0) > 2_000
let database: Database

beforeAll(async () => {
  database = await createDatabase()
  const { sql } = database
  await sql`
    insert into users (id, uid, display_name, nickname, created_at, is_agent, trashed_at, tags)
    select u, 'u' || u, 'Person ' || u * 37 % 6007, case when u % 7 = 0 then 'Zebra' end,
      now() - u * 41 % 997 * interval '1 minute', u % 50 = 0, case when u % 97 = 0 then now() end,
      case when u % 7 = 0 then '{seven}'::text[] else '{}' end
    from unnest(${users}::bigint[]) u`
  await sql`insert into directories (id, name, created_at) values (${large}, 'large', now()), (${small}, 'small', now())`
  await sql`
    insert into directory_members (directory_id, user_id)
    select case when u <= 2500 then ${large}::bigint else ${small}::bigint end, u from generate_series(1, 2600) u`
  await sql`
    insert into apps (id, type, rev, head_rev, created_at, created_by, trashed_at)
    values (${room}, 'chat_room', 1, 1, now(), 1, null), (${closed}, 'chat_room', 1, 1, now(), 1, now())`
  await sql`
    insert into members (app_id, user_id, access, joined_rev)
    select ${room}::bigint, u, 'write', u from unnest(${users.filter(isInRoom)}::bigint[]) u
    union all select ${closed}::bigint, u, 'write', u from unnest(${users}::bigint[]) u`
  await sql`
    insert into follows select 4001, u, now() from generate_series(2001, 6000) u
    union all select u, 7, now() from generate_series(2001, 6000) u where u <> 4001`
  // Rows whose visibility is not noted yet, because somebody may not see them, are looked at also where an index has all.
  await eventually(async () => {
    await sql`vacuum analyze`
    const [pages] = await sql`select relpages, relallvisible from pg_class where relname = 'users'`
    expect(pages!.relallvisible).toBe(pages!.relpages)
  })
})
afterAll(() => database[Symbol.asyncDispose]())

/** Somebody in the large directory and the room, somebody in it alone, in the small one, in none; and an API key. */
const callers: Principal[] = [1, 1_000, 2_501, 4_001, 3_001].map(user => ({ kind: 'user', user, credential: '' }))
callers.push({ kind: 'key', user: 0, credential: '' })

/** The rules as the API states them. */
function canSee({ kind, user }: Principal, other: number): boolean {
  if (kind === 'key' || user === other) return true
  const [mine, theirs] = [inDirectory(user), inDirectory(other)]
  const isMate = mine !== null && mine === theirs
  if (isAgent(other)) return isMate || theirs === null
  return isMate || (mine === null && theirs === null) || (isInRoom(user) && isInRoom(other))
}

const orders = ['name', 'name desc', 'id', 'id desc', 'created_at', 'created_at desc']
const pageOf = (order_by: string, skip: number, more = {}) =>
  toPage({ order_by, skip, take: 20, ...more }, ['name', 'id', 'created_at'], 'name')

/** Ids in the order in which they are listed. */
async function sorted(ids: number[], order_by: string): Promise<number[]> {
  const [field, direction = ''] = order_by.split(' ')
  const column = field === 'name' ? 'lower(display_name)' : field
  const rows = await database.sql.unsafe<{ id: number }[]>(
    `select id from users where id = any('{${ids.join()}}') order by ${column} ${direction}, id`,
  )
  return rows.map(({ id }) => id)
}

const filters: [string, Partial<PersonFilter>, object, (user: number, by: Principal) => boolean][] = [
  ['everybody', {}, {}, () => true],
  ['agents', { agent: true }, {}, isAgent],
  ['people', { agent: false }, {}, user => !isAgent(user)],
  ['people of a tag', { agent: false }, { tag: ['seven'] }, user => !isAgent(user) && isSelected(user)],
  ['whom a word finds', {}, { q: 'ZEB' }, isSelected],
  ['whom a word of all finds', {}, { q: 'person' }, () => true],
  [
    'a large directory',
    { directories: ['large'] },
    {},
    (user, by) => isReadable(large, by) && inDirectory(user) === large,
  ],
  ['a small directory', { directories: ['2'] }, {}, (user, by) => isReadable(small, by) && inDirectory(user) === small],
  ['whom somebody follows', { followedBy: 4_001 }, {}, user => follows(4_001, user)],
  ['who follows somebody', { followersOf: 7 }, {}, user => follows(user, 7)],
]

function isReadable(directory: number, { kind, user }: Principal): boolean {
  return kind === 'key' || inDirectory(user) === directory
}

test.each(filters)('people are listed as they can be seen: %s', async (_, filter, query, isWanted) => {
  for (const by of callers) await expectListed(database.sql, by, filter, query, isWanted)
})

test.each(filters.slice(0, 4))(
  'where few are in directories, people are listed as they can be seen: %s',
  async (_, filter, query, isWanted) => {
    await withFewInDirectories(async tx => {
      for (const by of callers) await expectListed(tx, by, filter, query, isWanted)
    })
  },
)

/** Pages of each order, near the start and far from it. */
async function expectListed(
  db: Db,
  by: Principal,
  filter: Partial<PersonFilter>,
  query: object,
  isWanted: (user: number, by: Principal) => boolean,
): Promise<void> {
  const visible = users.filter(user => canSee(by, user) && !isTrashed(user) && isWanted(user, by))
  for (const order_by of orders) {
    const expected = await sorted(visible, order_by)
    for (const skip of [0, Math.max(0, Math.floor(expected.length * 0.6))]) {
      const found = await listPersons(db, { by, directories: [], ...filter }, pageOf(order_by, skip, query))

      const what = `${by.kind} ${by.user} by ${order_by} from ${skip}`
      expect([found.count, found.persons.map(({ id }) => id)], what).toEqual([
        expected.length,
        expected.slice(skip, skip + 20),
      ])
    }
  }
}

/** For the time of `run`, most people of the large directory are in none. */
async function withFewInDirectories(run: (tx: Tx) => Promise<void>): Promise<void> {
  const undone = new Error()
  largeSize = 1_500
  try {
    await database.sql.begin(async tx => {
      await tx`delete from directory_members where user_id between 1501 and 2500`
      await run(tx as unknown as Tx)
      throw undone
    })
  } catch (error) {
    if (error !== undone) throw error
  } finally {
    largeSize = 2_500
    roomSize = 6_000
  }
}

const asked: [order_by: string, skip: number, q: string | undefined, trashed: 'false' | 'null'][] = [
  ['name', 40, undefined, 'false'],
  ['name', 40, 'zeb', 'false'],
  ['name', 40, 'person', 'false'],
  ['name desc', 0, undefined, 'null'],
  ['id', 1_200, undefined, 'false'],
  ['created_at', 2_440, undefined, 'false'],
  ['id desc', 2_470, undefined, 'null'],
]

test.each([true, false, null])('of a room, members and others are listed as they can be seen: member=%s', isMember =>
  expectMembersListed(database.sql, isMember),
)

test.each([false, null])(
  'where few are in directories, others than members are listed as they can be seen: member=%s',
  async isMember => {
    await withFewInDirectories(async tx => {
      await tx`delete from members where app_id = ${room} and user_id > 4500`
      roomSize = 4_500
      await expectMembersListed(tx as unknown as Sql, isMember)
    })
  },
)

async function expectMembersListed(sql: Sql, isMember: boolean | null): Promise<void> {
  for (const by of callers) {
    for (const [order_by, skip, q, trashed] of asked) {
      const isWanted = (user: number) =>
        isMember
          ? isInRoom(user)
          : isMember === false
            ? !isInRoom(user) && canSee(by, user)
            : isInRoom(user) || canSee(by, user)
      const isShown = (user: number) => !isTrashed(user) || (trashed === 'null' && by.kind === 'key')
      const expected = await sorted(
        users.filter(user => isWanted(user) && isShown(user) && (q !== 'zeb' || isSelected(user))),
        order_by,
      )
      const memberCount = users.filter(isInRoom).length
      const filter = { app: room, memberCount, by, isMember, isAgent: undefined, withSystem: false, isPrefix: true }

      const found = await listMemberIds(sql, filter, pageOf(order_by, skip, { q, trashed }))

      expect([found.count, found.ids], `${by.kind} ${by.user} ${order_by} ${skip} ${q} ${trashed}`).toEqual([
        expected.length,
        expected.slice(skip, skip + 20),
      ])
    }
  }
}

test('for who sees few, nobody else is looked at', async () => {
  for (const order_by of orders) {
    const looks = await database.sql.begin(tx => looksOf(tx as unknown as Tx, callers[2]!, order_by))

    // Each of the hundred or so to be counted and to be sorted, and the agents.
    expect(looks, order_by).toBeLessThan(1_000)
  }
})

test('for who sees nearly everybody, they are not looked at to be counted', async () => {
  const key = callers.at(-1)!
  for (const order_by of orders) {
    // Those in the trash and the page, with what is passed over; never the 6,000.
    expect(await database.sql.begin(tx => looksOf(tx as unknown as Tx, key, order_by)), order_by).toBeLessThan(500)
    await withFewInDirectories(async tx => {
      const withNone = callers[3]!
      // Besides, the 1,600 who are in directories.
      expect(await looksOf(tx, withNone, order_by), order_by).toBeLessThan(5_000)
    })
  }
})

test('the number of users that is kept follows those who come and go', async () => {
  await using other = await createDatabase()
  const { sql } = other
  const kept = async () =>
    (await sql<{ count: number }[]>`select sum(count)::bigint as count from user_counts`)[0]!.count

  await Promise.all(
    Array.from(
      { length: 20 },
      (_, i) =>
        sql`insert into users (uid, display_name, created_at) select 'u' || ${i}::int * 10 + n, 'One', now() from generate_series(1, 10) n`,
    ),
  )
  expect(await kept()).toBe(200)

  await Promise.all([1, 2, 3].map(n => sql`delete from users where uid like ${`u_${n}`}`))
  expect(await kept()).toBe((await sql`select from users where id >= 1`).length)
})

test('what is kept of directories follows people who join, leave, are trashed, restored and deleted at once', async () => {
  await using other = await createDatabase()
  const { sql } = other
  await sql`insert into directories (id, name, created_at) select d, 'd' || d, now() from generate_series(1, 3) d`
  await sql`insert into users (id, display_name, created_at, is_agent)
    select u, 'One', now(), u % 4 = 0 from generate_series(1, 60) u`
  const change = fc.record({
    kind: fc.constantFrom('join', 'join all', 'leave', 'trash', 'restore', 'delete', 'close' as const),
    user: fc.integer({ min: 1, max: 60 }),
    directory: fc.integer({ min: 1, max: 3 }),
  })
  const make = ({ kind, user, directory }: { kind: string; user: number; directory: number }) => {
    if (kind === 'join')
      return sql`insert into directory_members select ${directory}::bigint, id from users where id in (${user}::bigint, ${user + 1}::bigint) on conflict do nothing`
    if (kind === 'join all')
      return sql`insert into directory_members select d, id from users, generate_series(1, 3) d where id = ${user} and exists (select from directories where id = d) on conflict do nothing`
    if (kind === 'leave') return sql`delete from directory_members where user_id = ${user}`
    if (kind === 'trash') return sql`update users set trashed_at = now() where id between ${user} and ${user + 2}`
    if (kind === 'restore') return sql`update users set trashed_at = null where id between ${user} and ${user + 2}`
    if (kind === 'delete') return sql`delete from users where id = ${user}`
    return sql`delete from directories where id = ${directory} and ${user} < 4`
  }

  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 4, maxLength: 4 }), async changes => {
      // A directory that is deleted while somebody joins it refuses one of the two, as the API's commands do.
      await Promise.all([...changes.map(one => make(one).catch(ignoreRefusal)), addUpDirectoryCounts(sql)])
      const kept = await sql`
        select directory_id, is_agent, sum(count)::int as count from (
          select directory_id, is_agent, count from directory_counts
          union all select directory_id, is_agent, added from directory_count_changes) c
        group by 1, 2 having sum(count) <> 0 order by 1, 2`
      const counted = await sql`
        select coalesce(d.directory_id, 0) as directory_id, u.is_agent, count(*)::int as count
        from users u left join directory_members d on d.user_id = u.id
        where u.id >= 1 and u.trashed_at is null group by 1, 2 order by 1, 2`
      expect([...kept]).toEqual([...counted])
    }),
    { numRuns: 60 },
  )
})

/** A foreign key that is gone, or two transactions that waited for each other: neither has changed anything. */
function ignoreRefusal(error: unknown): void {
  if (!['23503', '40P01'].includes((error as { code: string }).code)) throw error
}

/** How many users, as rows or as entries of an index, are looked at for one page near the start. */
async function looksOf(tx: Tx, by: Principal, order_by: string): Promise<number> {
  const count = async () => {
    const [row] = await tx<{ count: number }[]>`
      select (pg_stat_get_xact_tuples_returned('users'::regclass) + sum(pg_stat_get_xact_tuples_returned(indexrelid)))
        ::bigint as count
      from pg_index where indrelid = 'users'::regclass`
    return row!.count
  }
  const before = await count()
  await listPersons(tx, { by, directories: [] }, pageOf(order_by, 10))
  return (await count()) - before
}
