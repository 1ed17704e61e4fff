import { expect, test } from 'vitest'
import { appOf } from '../support/content.ts'
import { openActors } from '../support/actors.ts'
import { createDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

test('a node that heard nothing of the end of an app notices that its row is gone', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const ann = await server.person('Ann')
  const [gone, kept] = [Number(await appOf(server, 'chat_room', [ann])), Number(await appOf(server, 'posts', [ann]))]
  await using node = await openActors(database.url)
  const heard: [number, boolean][] = []
  await Promise.all([node.apps.pin(gone), node.apps.state(kept)])
  node.apps.onCommit(({ app }, events) => heard.push([app.id, app.deleted_at !== null && events.length === 0]))
  await database.sql`delete from apps where id = ${gone}`

  await node.apps.poll()

  expect(heard).toEqual([[gone, true]])
  expect(node.apps.peek(kept)).toBeDefined()
  await expect((async () => node.apps.state(gone))()).rejects.toMatchObject({ status: 404 })
})
