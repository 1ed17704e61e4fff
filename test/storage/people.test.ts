import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Principal } from '../../src/auth/principal.ts'
import { listMemberIds } from '../../src/resources/apps/members/store.ts'
import { listPersons, type PersonFilter } from '../../src/resources/users/lists/pages.ts'
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
    insert into users (id, uid, display_name, nickname, middle_name, created_at, is_agent, trashed_at, tags)
    select u, 'u' || u, 'Person ' || u * 37 % 6007, case when u % 7 = 0 then 'Zebra' end,
      case when u > 2600 then 'Late' end,
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
  ['whom a word finds that no first ones have', {}, { q: 'late' }, user => user > 2_600],
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

test('for a user who sees few, no other users are looked at', async () => {
  for (const order_by of orders) {
    const looks = await database.sql.begin(tx => looksOf(tx as unknown as Tx, callers[2]!, order_by))

    // Each of the hundred or so, and the agents.
    expect(looks, order_by).toBeLessThan(1_000)
  }
})

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
