import { expect, test } from 'vitest'
import { catchUp } from '../../src/actors/catch-up.ts'
import { Environment } from '../../src/actors/environment.ts'
import { systemUser, type Principal } from '../../src/actors/principal.ts'
import { parseText } from '../../src/resources/content/text/render.ts'
import { eventTypes } from '../../src/resources/index.ts'
import { messageCommands } from '../../src/resources/messages/kind.ts'
import { prepareEvents } from '../../src/storage/housekeeping.ts'
import type { Sql } from '../../src/storage/sql.ts'
import { openActors } from '../support/actors.ts'
import { createDatabase } from '../support/database.ts'

const system: Principal = { kind: 'key', user: systemUser, credential: '' }

test('a catch-up that fails changes nothing, so that nobody misses what it has read', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  const [app] = await sql<{ id: number }[]>`
    insert into apps (type, rev, head_rev, created_at, created_by) values ('chat_room', 1, 1, now(), 0) returning id`
  await using here = await openActors(database.url)
  await using there = await openActors(database.url)
  const state = await here.apps.state(app!.id)
  const content = { text: parseText('hello'), metadata: null, tags: [], parts: null }
  for (let i = 0; i < 3; i++) await there.apps.run(messageCommands.create, app!.id, system, content)

  let queries = 0
  for (let broken = 1; ; broken++) {
    queries = 0
    const found = await catchUp(
      breaking(sql, () => ++queries === broken),
      state,
      eventTypes,
    ).catch(() => 'failed' as const)
    if (found !== 'failed') {
      expect(found).toHaveLength(3)
      break
    }
    expect([state.app.head_rev, state.app.item_count, state.recent.items]).toEqual([1, 0, []])
  }

  expect(queries).toBeGreaterThan(2)
  expect(state.app).toEqual((await there.apps.state(app!.id)).app)
})

/** The same database by a connection that breaks. */
function breaking(sql: Sql, isBroken: () => boolean): Sql {
  const broken = Promise.reject(new Error('The connection broke'))
  // Nobody waits for a part of a query.
  broken.catch(() => {})
  return new Proxy(sql, {
    apply: (target, self, args) => (isBroken() ? broken : Reflect.apply(target, self, args)),
  })
}

test('a rev that the database does not have is waited for by nobody', async () => {
  await using database = await createDatabase()
  const environment = new Environment(database.sql)
  await environment.start()
  const heard: string[] = []
  environment.listen(({ type }) => void heard.push(type))

  await environment.reach(environment.rev + 100)
  expect(heard).toEqual([])

  await database.sql`update environment set head_rev = head_rev + 50`
  const { rev } = environment
  await environment.reach(rev + 100)
  expect(heard).toEqual(['everything'])
  expect(environment.rev).toBe(rev + 50)
})
