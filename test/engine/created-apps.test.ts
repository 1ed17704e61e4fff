import { expect, test } from 'vitest'
import { GlobalCommands } from '../../src/engine/global/global-commands.ts'
import type { AppState } from '../../src/engine/state.ts'
import { createApp, type AppDraft } from '../../src/resources/apps/making/create.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { openActors } from '../support/actors.ts'
import { createDatabase } from '../support/database.ts'
import { system } from '../support/rooms.ts'

const people = [5, 3, 9]
const draft: AppDraft = {
  type: 'chat_room',
  uid: 'plans',
  name: 'Plans',
  description: null,
  metadata: { colour: 'red' },
  tags: ['new'],
  access: 'none',
  directory_id: null,
  picture_id: null,
  members: people.map(id => ({ id, ref: String(id), isAgent: false, isKnown: true })),
  isJoinable: false,
  isByAgent: false,
}

test('an app that a node has made is in its memory at once, as another node reads it', async () => {
  await using database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  await sql`
    insert into users (id, uid, display_name, created_at)
    select u, 'u' || u, 'Person ' || u, now() from unnest(${people}::bigint[]) u`
  await using here = await openActors(database.url)
  await using there = await openActors(database.url)
  const globalCommands = new GlobalCommands(here.sql, here.sharedLog, () => new Date())
  globalCommands.onAppCreated(made => here.apps.adopt(made))

  const { id } = await globalCommands.run(createApp, system, draft)
  const made = here.apps.peek(id)
  const read = await there.apps.state(id)

  expect(made && describe(made)).toEqual(describe(read))
  expect([...read.members()].map(({ user_id }) => user_id)).toEqual(people)
})

function describe(state: AppState) {
  return {
    app: state.app,
    members: [...state.members()],
    items: [...state.recent.items],
    isWhole: state.recent.isWhole,
  }
}
