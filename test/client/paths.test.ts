import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toHttpTypes } from '../support/http-paths.ts'
import { startServer } from '../support/server.ts'

const note =
  '// What each request of the API takes and answers. Made from the OpenAPI description by test/client/paths.test.ts: do not\n' +
  '// edit it, but run that test with -u where the API has changed.\n\n'

test('the client knows each request of the API as it is described', async () => {
  await using server = await startServer()
  const { body } = await server.request('GET', '/api/openapi.json')

  const types = await toHttpTypes(body)

  await expect(note + types).toMatchFileSnapshot(join(import.meta.dirname, '../../src/client/http/paths.ts'))
})
