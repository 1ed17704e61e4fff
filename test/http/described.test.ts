import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromSchema, type JsonSchema } from '../support/from-schema.ts'
import { startServer } from '../support/server.ts'

interface Operation {
  method: string
  path: string
  statuses: string[]
  parameters: { name: string; in: string; schema: JsonSchema }[]
  body: JsonSchema | undefined
}

/** What any operation may answer without saying so: limits of the transport, and a server that is busy. */
const general = ['408', '413', '414', '415', '429', '503']

/** Long enough to come back to what was made before, short enough for every run of the tests. */
const requests = 1_500

// oxlint-disable-next-line typescript/no-explicit-any -- the description is read as what it is, JSON
function listOperations(description: any): Operation[] {
  const parameterOf = (parameter: { $ref?: string }) =>
    parameter.$ref === undefined ? parameter : description.components.parameters[parameter.$ref.split('/').at(-1)!]
  return Object.entries(description.paths).flatMap(([path, operations]) =>
    // oxlint-disable-next-line typescript/no-explicit-any
    Object.entries(operations as Record<string, any>).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      statuses: Object.keys(operation.responses),
      parameters: (operation.parameters ?? []).map(parameterOf),
      body: operation.requestBody?.content?.['application/json']?.schema,
    })),
  )
}

/** Dots alone would be taken out of the path by `fetch`. */
const toSegment = (text: string) => encodeURIComponent(text).replace(/^\.+$/, 'dots')

test('whatever the description allows, and a little more, is answered with a status that it names', async () => {
  await using server = await startServer()
  const { app, people } = await server.chatWith(2)
  const { body: message } = await people[0].post(`/api/apps/${app}/messages`, { text: 'hello' })
  const { body: description } = await server.request('GET', '/api/openapi.json')
  const resolve = (ref: string): JsonSchema => description.components.schemas[ref.split('/').at(-1)!]
  const operations = listOperations(description).filter(({ path }) => path.startsWith('/api/'))
  const known = [app, people[0].id, people[1].uid, message.id, '1', '2', '999999', 'nobody', '-1', '0', '%00', '..%2f']
  const segment = fc.oneof(fc.constantFrom(...known), fc.string({ maxLength: 20 }).map(toSegment))

  const request = fc.constantFrom(...operations).chain(operation =>
    fc.record({
      operation: fc.constant(operation),
      names: fc.array(segment, { minLength: 4, maxLength: 4 }),
      query: fc.record(
        Object.fromEntries(
          operation.parameters
            .filter(parameter => parameter.in === 'query')
            .map(({ name, schema }) => [name, fromSchema(schema, resolve)]),
        ),
        { requiredKeys: [] },
      ),
      body: operation.body === undefined ? fc.constant(undefined) : fromSchema(operation.body, resolve),
      token: fc.constantFrom(server.key, people[0].token, people[1].token),
    }),
  )
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(request, async ({ operation, names, query, body, token }) => {
      // The credentials have to last, and one answer must not be waited for: a page elsewhere.
      fc.pre(
        !/tokens$|embeds$/.test(operation.path) &&
          !(operation.method === 'DELETE' && /users|keys/.test(operation.path)),
      )
      let next = 0
      const path = operation.path.replace(/\{\w+\}/g, () => names[next++]! || 'x')
      const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))

      const { status } = await server.request(operation.method, `${path}?${search}`, { body, token })

      seen.add(`${operation.method} ${operation.path}`)
      expect([...operation.statuses, ...general], `${operation.method} ${path} ${JSON.stringify(body)}`).toContain(
        `${status}`,
      )
      expect(status).not.toBe(500)
    }),
    { numRuns: requests },
  )
  expect(seen.size).toBeGreaterThan(operations.length / 2)
}, 120_000)
