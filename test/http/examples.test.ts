import { join } from 'node:path'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import { readExamples, type Example } from '../../src/http/about/examples.ts'
import type { Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startHost } from '../support/host.ts'
import { connectByConsent, personWithPassword } from '../support/oauth.ts'
import { listen } from '../support/realtime.ts'
import { answer, startReceiver } from '../support/receiver.ts'
import { startServer, type Server } from '../support/server.ts'
import { serveTools } from '../support/tool-server.ts'
import { tell, type Call, type Say } from './story.ts'

/** Operations that have no example: links that answers contain, files, and what speaks a protocol of its own. */
const without = /^GET (?:\/content\/|\/metrics|\/api\/openapi\.json)|^(?:POST|GET|DELETE) \/mcp$/

const keyOf = (operation: string) => operation.replaceAll(/\{\w+\}/g, '{}')

test('every operation has an example, and the server answers each as it says', { timeout: 120_000 }, async () => {
  const page = '<!doctype html><title>How to grow tomatoes</title><meta name="description" content="In the sun">'
  await using site = await startReceiver(answer(200, page, { 'content-type': 'text/html' }))
  await using receiver = await startReceiver()
  await using tools = await serveTools({
    cancel_order: { description: 'Cancels an order', answer: () => ({ content: [] }) },
  })
  await using host = await startHost()
  await using database = await createDatabase()
  await using server = await startServer({
    ...host.settings,
    DATABASE_URL: database.url,
    FETCH_ALLOW: '127.0.0.0/8',
    METRICS_TOKEN: 'a-token-for-prometheus',
  })
  const { body: description } = await server.request('GET', '/api/openapi.json')
  const operations = Object.entries<Body>(description.paths).flatMap(([path, methods]) =>
    Object.entries<Body>(methods).map(([method, { security }]) => ({
      operation: `${method.toUpperCase()} ${path}`,
      security,
    })),
  )
  const sent: Record<string, Example> = {}

  await tell(await narrate(server, operations, sent), {
    receiver: receiver.url,
    site: site.url,
    tools: tools.url,
    hostToken: await host.token('ann'),
    connect: token => listen(server.url, { token }),
    // Where a host issues tokens, clients get none from Parley.
    allow: async () => {
      await using hostless = await startServer({ DATABASE_URL: database.url })
      await using client = (await connectByConsent(hostless, await personWithPassword(hostless, 'sam'))).client
      await client.listTools()
    },
  })

  const wanted = operations.map(({ operation }) => operation).filter(operation => !without.test(operation))
  expect(wanted.filter(operation => sent[operation] === undefined)).toEqual([])
  const recorded = readExamples()
  const shown = wanted.map(operation => {
    const [now, before] = [sent[operation]!, recorded[operation]]
    return [
      operation,
      before !== undefined && JSON.stringify(shapeOf(before)) === JSON.stringify(shapeOf(now)) ? before : now,
    ]
  })
  const text = await format(JSON.stringify(Object.fromEntries(shown)), { parser: 'json', printWidth: 120 })
  await expect(text).toMatchFileSnapshot(join(import.meta.dirname, '../../src/http/about/examples.json'))
})

/** Sends what the story says, and keeps the first answer of each operation that is as it should be. */
async function narrate(
  server: Server,
  operations: { operation: string; security: object[] }[],
  sent: Record<string, Example>,
): Promise<Say> {
  const tokens: Record<string, string> = { key: server.key }
  for (const [uid, name] of [
    ['ann', 'Ann Lee'],
    ['ben', 'Ben Ito'],
  ] as const) {
    await server.admin.post('/api/users', { uid, name })
    tokens[uid] = (await server.admin.post(`/api/users/${uid}/tokens`)).body.access_token
  }
  const known = new Map(operations.map(one => [keyOf(one.operation), one]))
  let cookie = ''

  const send: Say = async (asked, { names = {}, query, body, until, as: wanted }: Call = {}) => {
    const found = known.get(keyOf(asked))
    if (found === undefined) throw new Error(`The description has no ${asked}`)
    const { operation, security } = found
    const kinds = security.flatMap(one => Object.keys(one))
    const isUnderAdmin = asked.includes(' /admin/')
    const by = wanted ?? (kinds.includes('AccessToken') ? 'ann' : kinds.includes('ApiKey') ? 'key' : undefined)
    const [method = '', template = ''] = asked.split(' ')
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name]!))
    const token = typeof by === 'object' ? by.token : by === undefined ? undefined : tokens[by]
    const answered = await server.request(method, query === undefined ? path : `${path}?${query}`, {
      ...(body !== undefined && { body }),
      ...(token !== undefined && { token }),
      ...(isUnderAdmin && { headers: { origin: server.url, 'x-parley-admin': '1', cookie } }),
    })
    if (answered.status >= 300) throw new Error(`${asked}: ${answered.status} ${JSON.stringify(answered.body)}`)
    expect([asked, answered.headers.get('x-service-ignored')]).toEqual([asked, null])
    cookie = answered.headers.get('set-cookie')?.split(';')[0] ?? cookie
    expect(until === undefined || until(answered.body)).toBe(true)
    sent[operation] ??= tidy({
      path: query === undefined ? path : `${path}?${query}`,
      as: isUnderAdmin ? 'session' : by === undefined ? 'none' : by === 'key' ? 'key' : 'token',
      ...(body !== undefined && !(body instanceof FormData) && { body }),
      status: answered.status,
      ...(answered.body !== undefined && { answer: answered.body }),
    })
    return answered.body
  }
  return (asked, call) => (call?.until === undefined ? send(asked, call) : eventually(() => send(asked, call)))
}

/** The most elements of a list in an example. */
const mostShown = 3

/** Without secrets, ports and instants of one run, and with the beginning of long lists. */
function tidy(example: Example): Example {
  const text = JSON.stringify(example)
    .replaceAll(/http:\/\/(?:localhost|127\.0\.0\.1):\d+\/hook/g, 'https://crm.example/parley')
    .replaceAll(/http:\/\/(?:localhost|127\.0\.0\.1):\d+\/mcp/g, 'https://crm.example/mcp')
    .replaceAll(/http:\/\/(?:localhost|127\.0\.0\.1):\d+/g, 'https://chat.example')
    .replaceAll(/http%3A%2F%2F127\.0\.0\.1%3A\d+%2Fhook/g, 'https%3A%2F%2Ftomatoes.example')
    .replaceAll(/\b(wy[us]_)[\w-]{20,}/g, '$1…')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g, '2026-07-08T09:30:00')
    .replaceAll(/([?&][a-z]=)[\w-]{16,}/g, '$1…')
  return JSON.parse(text, (_, value: unknown) => (Array.isArray(value) ? value.slice(0, mostShown) : value)) as Example
}

/** Members that an answer has a moment later, when an agent has begun. */
const later = new Set(['began_at'])

/** Names and types of all members; of a list, those of its elements together. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map(one => JSON.stringify(shapeOf(one))))].toSorted()
  if (typeof value !== 'object' || value === null) return typeof value
  const members = Object.entries(value).filter(([name]) => !later.has(name))
  return Object.fromEntries(members.map(([name, member]) => [name, shapeOf(member)]).toSorted())
}
