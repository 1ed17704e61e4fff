import { createHmac } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { ArgumentChecker } from '../../src/agents/tools/arguments/checker.ts'
import type { FunctionDefinition } from '../../src/agents/tools/functions/function.ts'
import { toFunctionTool, type FunctionParts } from '../../src/agents/tools/functions/function-tool.ts'
import { ipCheck } from '../../src/egress/ip-policy.ts'
import { Egress } from '../../src/egress/egress.ts'
import { createLog } from '../../src/lib/log.ts'
import { Secret } from '../../src/lib/secret.ts'
import { answer, drip, flood, startReceiver, type Receiver } from '../support/receiver.ts'

const checker = new ArgumentChecker(createLog('error', () => {}))
afterAll(() => checker.close())

const of = { agent: { id: 9, uid: 'helper' }, asker: { id: 7, uid: 'zoë' }, app: { id: 12, uid: null } }

describe('what is sent', () => {
  test('arguments fill the path and the query, and what is left follows in the query of a GET', async () => {
    await using receiver = await startReceiver()
    const url = `${receiver.url}/{id}/lines?of={customer}&fixed=1`

    await call(
      receiver,
      { url },
      { id: 'a/b?c', customer: 'Ann & Ben', tags: ['x', 'y'], range: { from: 1 }, all: true, none: null },
    )

    const [{ method, path, body }] = await receiver.take(1)
    expect([method, body]).toEqual(['GET', ''])
    expect(path).toBe(
      '/hook/a%2Fb%3Fc/lines?of=Ann%20%26%20Ben&fixed=1&tags=x&tags=y&range=%7B%22from%22%3A1%7D&all=true',
    )
  })

  test('a POST has what is left as JSON', async () => {
    await using receiver = await startReceiver()

    await call(receiver, { method: 'POST', url: `${receiver.url}/{id}` }, { id: 17, note: 'Grüße', deep: { a: [1] } })

    const [{ path, body, headers }] = await receiver.take(1)
    expect(path).toBe('/hook/17')
    expect(body).toBe('{"note":"Grüße","deep":{"a":[1]}}')
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
  })

  test('a function learns who asks, and a configured header overrides nothing of that', async () => {
    await using receiver = await startReceiver()
    const headers = {
      Authorization: 'Bearer abc',
      'X-Service-User': 'root',
      'User-Agent': 'x',
      'Transfer-Encoding': 'chunked',
    }

    await call(receiver, { headers }, {})

    const [{ headers: sent }] = await receiver.take(1)
    expect(sent).toMatchObject({
      authorization: 'Bearer abc',
      'user-agent': 'ServiceBot/1.2.3',
      accept: 'application/json, text/*;q=0.9, */*;q=0.1',
      'x-service-agent': 'helper',
      'x-service-user': 'zo%C3%AB',
      'x-service-app': '12',
      'x-service-run': '88',
      'idempotency-key': '88-3',
    })
    expect(sent['webhook-signature']).toBeUndefined()
  })

  test('with a secret, calls are signed as Standard Webhooks are', async () => {
    await using receiver = await startReceiver()
    const parts = { secret: new Secret('a secret'), now: () => new Date(1_700_000_000_000) }

    await call(receiver, { method: 'POST' }, { a: 1 }, parts)
    await call(receiver, { method: 'GET' }, { a: 1 }, parts)

    const [post, get] = await receiver.take(2)
    const sign = (content: string) =>
      `v1,${createHmac('sha256', 'a secret').update(`88-3.1700000000.${content}`).digest('base64')}`
    expect(post!.headers).toMatchObject({ 'webhook-id': '88-3', 'webhook-timestamp': '1700000000' })
    expect(post!.headers['webhook-signature']).toBe(sign('{"a":1}'))
    expect(get!.headers['webhook-signature']).toBe(sign('GET /hook?a=1'))
  })
})

describe('what is not sent', () => {
  test.each([
    ['an argument of the path that is missing', {}, 'id is missing.'],
    ['an object in the path', { id: { a: 1 } }, 'id must be a text, a number or a boolean.'],
    ['nothing in the path', { id: '' }, 'id must not be empty.'],
    ['a way up the path', { id: '..' }, 'An argument that is part of a path must not be "." or "..".'],
  ])('%s', async (_, args, text) => {
    await using receiver = await startReceiver()

    const result = await call(receiver, { url: `${receiver.url}/{id}/x` }, args)

    expect(result).toEqual({ text, isError: true })
    expect(receiver.requests).toEqual([])
  })

  test.each(['http://{host}/x', 'http://127.0.0.1{host}/x', 'http://{host}@127.0.0.1/x'])(
    'a request to a host that the model chose: %s',
    async url => {
      await using receiver = await startReceiver()

      const result = await call(receiver, { url }, { host: `:${receiver.port}` })

      expect(result.isError).toBe(true)
      expect(receiver.requests).toEqual([])
    },
  )

  test('arguments that the schema does not allow; the model learns all that is wrong', async () => {
    await using receiver = await startReceiver()
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { id: { type: 'string', pattern: '^[0-9]+$' }, size: { enum: ['s', 'm'] } },
      required: ['id', 'size'],
      additionalProperties: false,
    }

    const result = await call(receiver, { parameters }, { id: 'x', size: 'l', more: 1 })

    expect(result.isError).toBe(true)
    for (const fault of [
      '/id must match pattern',
      '/size must be equal to one of',
      '["s","m"]',
      'additional properties',
    ]) {
      expect(result.text).toContain(fault)
    }
    expect(receiver.requests).toEqual([])
  })

  test('a call whose schema refers to another server, or is none', async () => {
    await using receiver = await startReceiver()

    const remote = await call(receiver, { parameters: { $ref: `${receiver.url}/schema.json` } }, {})
    const broken = await call(receiver, { parameters: { type: 'objekt' } }, {})

    expect([remote.isError, broken.isError]).toEqual([true, true])
    expect(remote.text).toContain('are no valid JSON Schema')
    expect(receiver.requests).toEqual([])
  })

  test('arguments whose check would take for ever; others are checked next', async () => {
    await using receiver = await startReceiver()
    const parameters = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }

    const result = await call(receiver, { parameters }, { a: `${'a'.repeat(40)}!` })
    const next = await call(receiver, { parameters }, { a: 'aa' })

    expect(result).toEqual({ text: 'Checking the arguments takes too long.', isError: true })
    expect(next.isError).toBe(false)
  })

  test('a schema of many thousand rules is given up', async () => {
    await using receiver = await startReceiver()
    const rule = (n: number) => ({
      anyOf: [{ required: [`a${n}`] }, { properties: { [`a${n}`]: { enum: [n, `${n}`] } } }],
    })
    const parameters = { allOf: Array.from({ length: 40_000 }, (_, n) => rule(n)) }

    const result = await call(receiver, { parameters }, {})

    expect(result).toEqual({ text: 'Checking the arguments takes too long.', isError: true })
  })

  test('a request to link-local addresses, or to what is denied', async () => {
    await using receiver = await startReceiver()
    const denying = new Egress({ isAllowed: ipCheck({ allowsPrivate: true, deny: ['127.0.0.0/8'] }) })

    const metadata = await call(receiver, { url: 'http://169.254.169.254/latest/meta-data/' }, {})
    const loopback = await call(receiver, {}, {}, { egress: denying })

    const refused = { text: 'Its address may not be reached.', isError: true }
    expect([metadata, loopback]).toEqual([refused, refused])
    expect(receiver.requests).toEqual([])
  })

  test('anything to where a redirect leads', async () => {
    await using target = await startReceiver()
    await using receiver = await startReceiver(answer(302, 'secret place', { location: target.url }))

    const result = await call(receiver, {}, {})

    expect(result).toEqual({ text: 'HTTP 302\n(redirects are not followed)', isError: true })
    expect(target.requests).toEqual([])
  })
})

describe('what the model is told', () => {
  test.each([
    [
      'JSON without spaces',
      answer(200, '{ "a": [1,\n 2] }', { 'content-type': 'application/json' }),
      'HTTP 200\n{"a":[1,2]}',
      false,
    ],
    ['text as it is', answer(200, 'Hello\nthere', { 'content-type': 'text/plain' }), 'HTTP 200\nHello\nthere', false],
    [
      'the size of anything else',
      answer(200, 'abc', { 'content-type': 'image/png' }),
      'HTTP 200\n[3 bytes of image/png]',
      false,
    ],
    ['a status alone', answer(204), 'HTTP 204', false],
    [
      'an error with its body',
      answer(404, 'No such order', { 'content-type': 'text/plain' }),
      'HTTP 404\nNo such order',
      true,
    ],
    [
      'JSON that is none as it is',
      answer(200, '{"a"', { 'content-type': 'application/json' }),
      'HTTP 200\n{"a"',
      false,
    ],
  ])('%s', async (_, behaviour, text, isError) => {
    await using receiver = await startReceiver(behaviour)

    expect(await call(receiver, {}, {})).toEqual({ text, isError })
  })

  test('head and tail of a long answer, and how much of it there was', async () => {
    const body = `first ${'ä'.repeat(4_999_991)} last line`
    await using receiver = await startReceiver(answer(200, body, { 'content-type': 'text/plain' }))

    const result = await call(receiver, {}, {})

    expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(65_536)
    expect(Buffer.byteLength(result.text)).toBeGreaterThan(65_500)
    expect(result.text).toMatch(/^HTTP 200\nfirst ä+\n\[cut: 64 of 9,766 KiB\]\nä+ last line$/)
    expect(result.isError).toBe(false)
  })

  test('the ends of an answer without end', async () => {
    await using receiver = await startReceiver((request, response) => {
      response.setHeader('content-type', 'text/plain')
      flood(request, response)
    })

    const result = await call(receiver, {}, {})

    expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(65_536)
    expect(result.text).toMatch(/\n\[cut: 64 of more than [\d,]+ KiB\]\n/)
    expect(result.isError).toBe(false)
  })

  test('that a function took longer than 10 s', async () => {
    await using receiver = await startReceiver(drip)
    const startedAt = performance.now()

    const result = await call(receiver, {}, {})

    expect(result).toEqual({ text: 'It did not answer in time.', isError: true })
    expect(performance.now() - startedAt).toBeLessThan(12_000)
  })
})

test('a call ends at once when its run is cancelled, and says so', async () => {
  await using receiver = await startReceiver(drip)
  const cancel = new AbortController()

  const called = call(receiver, {}, {}, {}, cancel.signal)
  await receiver.take(1)
  cancel.abort()

  await expect(called).rejects.toBe(cancel.signal.reason)
})

test('only a GET may be repeated when its result was lost', () => {
  const isRepeatable = (method: FunctionDefinition['method']) =>
    toFunctionTool({ ...definition('http://x.example'), method }, of, parts).isRepeatable

  expect((['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map(isRepeatable)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})

const parts: FunctionParts = {
  egress: new Egress({ isAllowed: ipCheck({ allowsPrivate: true }) }),
  checker,
  version: '1.2.3',
  secret: null,
  now: () => new Date(),
}

function definition(url: string): FunctionDefinition {
  return { name: 'look', description: 'Looks', method: 'GET', url, headers: null, parameters: null }
}

function call(
  receiver: Receiver,
  given: Partial<FunctionDefinition>,
  args: Record<string, unknown>,
  changed: Partial<FunctionParts> = {},
  signal = AbortSignal.timeout(60_000),
) {
  const tool = toFunctionTool({ ...definition(receiver.url), ...given }, of, { ...parts, ...changed })
  return tool.call(args, { run: '88', step: 3, passages: 0, signal })
}
