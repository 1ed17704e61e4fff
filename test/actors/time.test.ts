import { expect, test } from 'vitest'
import { systemUser, type Principal } from '../../src/actors/principal.ts'
import { parseText } from '../../src/resources/content/text/render.ts'
import { messageCommands } from '../../src/resources/messages/kind.ts'
import { prepareEvents } from '../../src/storage/housekeeping.ts'
import { openActors } from '../support/actors.ts'
import { createDatabase } from '../support/database.ts'

const by: Principal = { kind: 'key', user: systemUser, credential: '' }

test('what is made later is no older, whatever the clocks of nodes say, and whatever has become of what was there', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  const [app] = await sql<{ id: number }[]>`
    insert into apps (type, rev, head_rev, created_at, created_by) values ('chat', 1, 1, now(), 0) returning id`
  const clocks = { right: 0, fast: 5_000, slow: -5_000 }
  const open = (ahead: number) => openActors(database.url, { now: () => new Date(Date.now() + ahead) })
  await using right = await open(clocks.right)
  await using fast = await open(clocks.fast)
  await using slow = await open(clocks.slow)
  const send = async (node: typeof right) => {
    const content = { text: parseText('hello'), metadata: null, tags: [], parts: null }
    return node.apps.run(messageCommands.create, app!.id, by, content)
  }

  const first = await send(right)
  const ahead = await send(fast)
  await fast.apps.run(messageCommands.remove, app!.id, by, { id: ahead.id })
  const sent = [await send(slow), await send(right), await send(slow)]
  // A node that has seen none of it.
  await using other = await open(clocks.slow)
  sent.push(await send(other))

  expect(ahead.created_at.getTime() - first.created_at.getTime()).toBeGreaterThan(4_000)
  const times = [first, ahead, ...sent].map(({ created_at }) => created_at.getTime())
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  const stored = await sql<{ id: number }[]>`select id from messages order by created_at, id`
  expect(stored.map(({ id }) => id)).toEqual([first, ...sent].map(({ id }) => id))
  const events = await sql<{ rev: number }[]>`select rev from events order by created_at, rev`
  expect(events.map(({ rev }) => rev)).toEqual(events.map(({ rev }) => rev).toSorted((a, b) => a - b))
})
