import { expect, test } from 'vitest'
import { removeForMe, showAgain } from '../../src/resources/apps/own/settings.ts'
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
  node.apps.onCommit(({ after, events }) => heard.push([after.id, after.deleted_at !== null && events.length === 0]))
  await database.sql`delete from apps where id = ${gone}`

  await node.apps.remoteCommits.poll()

  expect(heard).toEqual([[gone, true]])
  expect(node.apps.peek(kept)).toBeDefined()
  await expect((async () => node.apps.state(gone))()).rejects.toMatchObject({ status: 404 })
})

test('a private chat that is removed from both sides does not come back in the same commit', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const { body: chat } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })
  await ben.post(`/api/apps/${chat.id}/remove`)
  await using node = await openActors(database.url)
  const app = Number(chat.id)
  await node.apps.pin(app)

  const [, shown] = await Promise.allSettled([
    node.apps.run(removeForMe, app, { kind: 'user', user: Number(ann.id), credential: '' }, undefined),
    node.apps.run(showAgain, app, { kind: 'user', user: Number(ben.id), credential: '' }, undefined),
  ])

  expect(node.commits).toEqual([2])
  expect(shown).toMatchObject({ status: 'rejected', reason: { status: 404 } })
})
