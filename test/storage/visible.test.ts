import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { User } from '../../src/auth/user-cache.ts'
import type { Principal } from '../../src/auth/principal.ts'
import type { Tx } from '../../src/postgres/sql.ts'
import { isShownByDirectories, isVisibleTo, listMates, selectVisible } from '../../src/resources/users/visible.ts'
import { createDatabase } from '../support/database.ts'

const places = [1, 2, 3]
const person = fc.record({
  isAgent: fc.boolean(),
  directories: fc.subarray(places),
  apps: fc.dictionary(fc.constantFrom('1', '2', '3'), fc.constantFrom('none', 'read', 'admin', null)),
})
const world = fc.record({
  people: fc.array(person, { minLength: 3, maxLength: 8 }),
  /** Of each app. */
  states: fc.tuple(...places.map(() => fc.constantFrom('live', 'live', 'trashed', 'deleted'))),
})
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never

async function fill(tx: Tx, { people, states }: World): Promise<void> {
  await tx`insert into directories (id, name, created_at) select d, 'd' || d, now() from unnest(${places}::bigint[]) d`
  for (const [i, state] of states.entries())
    await tx`
      insert into apps (id, type, rev, head_rev, created_at, created_by, trashed_at, deleted_at)
      values (${i + 1}, 'chat_room', 1, 1, now(), 1, ${state === 'trashed' ? new Date() : null},
        ${state === 'deleted' ? new Date() : null})`
  for (const [i, { isAgent, directories, apps }] of people.entries()) {
    await tx`insert into users (id, display_name, created_at, is_agent) values (${i + 1}, 'One', now(), ${isAgent})`
    await tx`insert into directory_members select d, ${i + 1} from unnest(${directories}::bigint[]) d`
    for (const [app, access] of Object.entries(apps))
      await tx`insert into members (app_id, user_id, access, joined_rev) values (${app}, ${i + 1}, ${access}, 1)`
  }
}

test('whom a user sees is the same by the condition, by the query for all, and by memory', async () => {
  await using database = await createDatabase()
  const verify = async ({ people, states }: World) => {
    const undone = new Error('undone')
    const work = database.sql.begin(async tx => {
      await fill(tx as unknown as Tx, { people, states })
      const ids = people.map((_, i) => i + 1)
      const users = people.map(({ isAgent, directories }, i) => ({
        ...{ id: i + 1, is_agent: isAgent, directories: directories.map(id => ({ id })) },
      })) as unknown as User[]
      for (const viewer of users) {
        const by = { kind: 'user', user: viewer.id, credential: '' } as Principal
        const byCondition = await tx<{ id: number }[]>`
          select u.id from users u where u.id >= 1 and ${isVisibleTo(tx as unknown as Tx, by)} order by u.id`
        const byQuery = await tx<{ id: number }[]>`
          select distinct id from (${selectVisible(tx as unknown as Tx, viewer.id)}) v(id) where id >= 1 order by id`
        const mates = (await listMates(tx as unknown as Tx, [viewer.id], ids)).get(viewer.id) ?? []
        const byMemory = users.filter(
          other =>
            other.id === viewer.id ||
            isShownByDirectories(viewer, other) ||
            (!other.is_agent && mates.includes(other.id)),
        )

        const seen = byMemory.map(({ id }) => id)
        expect(byCondition.map(({ id }) => id)).toEqual(seen)
        expect(byQuery.map(({ id }) => id)).toEqual(seen)
      }
      throw undone
    })
    await expect(work).rejects.toBe(undone)
  }

  await fc.assert(fc.asyncProperty(world, verify), { numRuns: 60 })
})
