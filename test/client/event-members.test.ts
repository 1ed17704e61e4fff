import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { AppState } from '../../src/engine/state.ts'
import { eventTypes } from '../../src/resources/index.ts'
import { formatCode, toDeclaration, type Schema } from '../support/typescript.ts'

/** A chat of two: where least is kept from subscribers. */
const chat = { app: { access: 'none' }, memberCount: 2 } as AppState

const note =
  '// What each event says, by its schema on the server. Made by test/client/event-members.test.ts: do not edit it, but\n' +
  '// run that test with -u where a schema has changed.\n\n'

const client = join(import.meta.dirname, '../../src/client')

test('the typed client knows the members of each event as its schema says', async () => {
  const told = [...eventTypes.values()].filter(({ schema, isBroadcast }) => schema && isBroadcast?.(chat) !== false)
  const members = z.object(Object.fromEntries(told.map(({ type, schema }) => [type, schema!])))
  const { $defs = {}, ...whole } = z.toJSONSchema(members, { io: 'output' })

  const types = await toEventTypes($defs as Record<string, Schema>, whole as Schema)

  await expect(note + types).toMatchFileSnapshot(join(client, 'connection/event-members.ts'))
})

/** A type for each schema; those that answers of the API have in the same form are the types of the answers. */
async function toEventTypes(parts: Record<string, Schema>, whole: Schema): Promise<string> {
  const paths = readFileSync(join(client, 'http/paths.ts'), 'utf8')
  const shared: string[] = []
  const own: string[] = []
  for (const [name, schema] of Object.entries(parts)) {
    const declaration = await formatCode(toDeclaration(name, schema))
    if (paths.includes(declaration)) shared.push(name)
    else own.push(declaration)
  }
  const names = shared.join(', ')
  return formatCode(
    `import type { ${names} } from '../http/paths.ts'

    export type { ${names} }

    ${[...own, toDeclaration('EventMembers', whole)].join('\n\n')}`,
  )
}
