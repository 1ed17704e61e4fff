import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { AppState } from '../../src/engine/state.ts'
import { eventTypes } from '../../src/resources/index.ts'
import { toTypes } from '../support/typescript.ts'

/** A chat of two: where least is kept from subscribers. */
const chat = { app: { access: 'none' }, memberCount: 2 } as AppState

const note =
  '// What each event says, by its schema on the server. Made by test/client/event-members.test.ts: do not edit it, but\n' +
  '// run that test with -u where a schema has changed.\n\n'

test('the typed client knows the members of each event as its schema says', async () => {
  const told = [...eventTypes.values()].filter(({ schema, isBroadcast }) => schema && isBroadcast?.(chat) !== false)
  const members = z.object(Object.fromEntries(told.map(({ type, schema }) => [type, schema!])))
  const { $defs = {}, ...whole } = z.toJSONSchema(members, { io: 'output' })

  const types = await toTypes({ ...$defs, EventMembers: whole })

  const file = join(import.meta.dirname, '../../src/client/event-members.ts')
  await expect(note + types).toMatchFileSnapshot(file)
})
