import { afterAll, describe, expect, test } from 'vitest'
import { ArgumentChecker } from '../../src/agents/tools/arguments/checker.ts'
import { ToolServerCache } from '../../src/agents/tools/mcp/server-cache.ts'
import type { ToolServerDefinition } from '../../src/agents/tools/mcp/server.ts'
import { openToolbox, type ToolboxParts } from '../../src/agents/tools/toolbox.ts'
import { ipCheck } from '../../src/egress/ip-policy.ts'
import { Egress } from '../../src/egress/egress.ts'
import { createLog } from '../../src/lib/log.ts'
import { answer, drip, hang, startReceiver } from '../support/receiver.ts'
import {
  answerJson,
  noArguments,
  serveLegacyTools,
  serveOldTools,
  serveTools,
  startToolServer,
  type ToolHandler,
  type ToolServer,
} from '../support/tool-server.ts'

const lines: string[] = []
const log = createLog('warn', line => lines.push(line))
const checker = new ArgumentChecker(log)
afterAll(() => checker.close())

const said = (text: string) => ({ content: [{ type: 'text', text }] })
const order = { description: 'Finds an order', schema: { type: 'object', properties: { id: { type: 'string' } } } }
const getOrder = { ...order, answer: ({ id }: { id: string }) => said(`Order ${id}`) }

describe('every generation of servers', () => {
  test.each(['auto', 'sse'] as const)('of 2026-07-28, answering by %s', async mode => {
    await using server = await serveTools({ get_order: getOrder }, mode)
    await using box = await open(server)

    const result = await box.call('crm__get_order', { id: '17' })

    expect(box.tools).toMatchObject([
      { name: 'crm__get_order', description: 'Finds an order', parameters: order.schema },
    ])
    expect(result).toEqual({ text: 'Order 17', isError: false })
    expect(server.methods).toEqual(['server/discover', 'tools/list', 'tools/call'])
    expect(server.requests[2]!.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'get_order',
      'x-key': 'abc',
    })
  })

  test('of 2025, with a session that is ended', async () => {
    await using server = await serveLegacyTools([{ name: 'look', inputSchema: noArguments }], () => said('Found'))
    {
      await using box = await open(server)
      expect(await box.call('crm__look', {})).toEqual({ text: 'Found', isError: false })
    }

    expect(server.methods).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/call',
      'DELETE',
    ])
    expect(server.requests.every(({ headers }) => headers['x-key'] === 'abc')).toBe(true)
    expect(server.requests[4]!.headers['mcp-session-id']).toBe('session-1')
  })

  test('of 2024, which answers on a stream', async () => {
    await using server = await serveOldTools([{ name: 'look', inputSchema: noArguments }], () => said('Found'))
    await using box = await open(server)

    expect(await box.call('crm__look', {})).toEqual({ text: 'Found', isError: false })
  })

  test('how a server was reached is remembered, and forgotten where it does not work any more', async () => {
    await using server = await serveLegacyTools([{ name: 'look', inputSchema: noArguments }], () => said('Found'))
    const cache = new ToolServerCache()
    await (await open(server, {}, { cache })).close()
    const before = server.requests.length
    await (await open(server, {}, { cache })).close()
    const second = server.methods.slice(before)
    await using newer = await serveTools({ look: { ...getOrder } })
    server.handler = newer.handler

    await using box = await open(server, {}, { cache })

    expect(second).not.toContain('server/discover')
    expect(box.unavailable).toEqual([])
  })

  test.each([401, 403, 500, 503])('a server that answers with %i is not tried by older protocols', async status => {
    await using server = await startToolServer((_request, response) => void response.writeHead(status).end('no'))
    await using box = await open(server)

    expect(box.unavailable).toEqual(['crm'])
    expect(server.methods).toEqual(['server/discover'])
  })
})

describe('what is offered', () => {
  test('only what is allowed, by the server’s own names', async () => {
    await using server = await serveTools({ 'get.order': getOrder, drop: getOrder })
    await using some = await open(server, { allowed_tools: ['get.order'] })
    await using none = await open(server, { allowed_tools: [] })

    expect([some.names, none.names]).toEqual([['crm__get_order'], []])
  })

  test('names that every vendor takes, each once', async () => {
    const long = 'a'.repeat(70)
    const tools = [long, `${long}b`, 'look.up', 'look_up'].map(name => ({ name, inputSchema: noArguments }))
    await using server = await serveLegacyTools(tools, () => said(''))
    await using box = await open(server)

    const [first, second, third, ...rest] = box.names
    expect(first).toMatch(/^crm__a{50}_[0-9a-f]{8}$/)
    expect(second).toMatch(/^crm__a{50}_[0-9a-f]{8}$/)
    expect(second).not.toBe(first)
    expect([third, rest]).toEqual(['crm__look_up', []])
  })

  test('no tool whose schema is huge, or of another type; descriptions are cut', async () => {
    const huge = { type: 'object', properties: { a: { description: 'x'.repeat(33_000) } } }
    const tools = [
      { name: 'huge', inputSchema: huge },
      { name: 'fine', inputSchema: noArguments, description: 'y'.repeat(3_000) },
    ]
    await using server = await serveLegacyTools(tools, () => said(''))
    await using box = await open(server)

    expect(box.names).toEqual(['crm__fine'])
    expect(box.tools[0]!.description).toHaveLength(2_000)
  })

  test('at most 128 tools, functions first', async () => {
    const tools = Array.from({ length: 200 }, (_, n) => ({ name: `t${n}`, inputSchema: noArguments }))
    await using server = await serveLegacyTools(tools, () => said(''))
    const look = {
      name: 'look',
      description: 'Looks',
      method: 'GET',
      url: server.url,
      headers: null,
      parameters: null,
    } as const
    await using box = await open(server, {}, {}, [look])

    expect(box.names).toHaveLength(128)
    expect(box.names[0]).toBe('look')
    expect(box.tools[0]!.parameters).toEqual({ type: 'object', properties: {} })
  })

  test('a list is asked for by each run, unless its server says how long it is good for', async () => {
    let ttlMs = 0
    const serve: ToolHandler = ({ method, id }, response) => {
      if (method !== 'tools/list') {
        const supportedVersions = ['2026-07-28']
        return answerJson(response, id, {
          resultType: 'complete',
          ttlMs: 0,
          cacheScope: 'private',
          supportedVersions,
          capabilities: { tools: {} },
          serverInfo: { name: 'x', version: '1' },
        })
      }
      answerJson(response, id, {
        resultType: 'complete',
        tools: [{ name: 'look', inputSchema: noArguments }],
        ttlMs,
        cacheScope: 'private',
      })
    }
    await using server = await startToolServer(serve)
    const cache = new ToolServerCache()
    const lists = () => server.methods.filter(method => method === 'tools/list').length

    for (let run = 0; run < 2; run++) await (await open(server, {}, { cache })).close()
    const without = lists()
    ttlMs = 60_000
    for (let run = 0; run < 3; run++) await (await open(server, {}, { cache })).close()

    expect([without, lists()]).toEqual([2, 3])
  })
})

describe('approval', () => {
  test('is asked for unless the owner says never, and binds server, tool and arguments', async () => {
    await using server = await serveTools({ get_order: getOrder })
    await using never = await open(server)
    await using always = await open(server, { approval_mode: 'always' })
    await using elsewhere = await open(server, { approval_mode: 'always', url: `${server.url}?other` })

    const rule = always.find('crm__get_order')!.approval!
    const other = elsewhere.find('crm__get_order')!.approval!
    expect(never.find('crm__get_order')!.approval).toBeNull()
    expect(rule).toMatchObject({ server: 'crm', tool: 'get_order' })
    expect(rule.binding({ a: 1, b: [2] })).toEqual(rule.binding({ b: [2], a: 1 }))
    expect(rule.binding({ a: 1 })).toHaveLength(32)
    for (const changed of [rule.binding({ a: 2 }), rule.binding({ a: [1] }), other.binding({ a: 1 })]) {
      expect(changed).not.toEqual(rule.binding({ a: 1 }))
    }
  })

  test('what is read-only or may be repeated is known to be', async () => {
    const hints = [{}, { readOnlyHint: true }, { idempotentHint: true }, { destructiveHint: true }]
    const tools = hints.map((annotations, n) => ({ name: `t${n}`, inputSchema: noArguments, annotations }))
    await using server = await serveLegacyTools(tools, () => said(''))
    await using box = await open(server)

    expect(box.names.map(name => box.find(name)!.isRepeatable)).toEqual([false, true, true, false])
  })
})

describe('what the model is told', () => {
  const png = Buffer.from('89504e47', 'hex').toString('base64')

  test.each([
    ['texts', { content: [...said('One').content, ...said('Two').content] }, { text: 'One\n\nTwo', isError: false }],
    ['an error', { ...said('No'), isError: true }, { text: 'No', isError: true }],
    ['JSON where there is no text', { content: [], structuredContent: { a: 1 } }, { text: '{"a":1}', isError: false }],
    [
      'links and what cannot be shown',
      {
        content: [
          { type: 'resource_link', uri: 'file:///a.txt', name: 'a' },
          { type: 'audio', data: png, mimeType: 'audio/wav' },
          { type: 'image', data: png, mimeType: 'image/tiff' },
        ],
      },
      { text: 'a, file:///a.txt\n\n[audio]\n\n[image]', isError: false },
    ],
    [
      'images as images',
      { content: [{ type: 'image', data: png, mimeType: 'image/png' }] },
      { text: '', isError: false, images: [{ image: Buffer.from(png, 'base64'), type: 'image/png' }] },
    ],
  ])('%s', async (_, result, expected) => {
    await using server = await serveLegacyTools([{ name: 'look', inputSchema: noArguments }], () => result)
    await using box = await open(server)

    expect(await box.call('crm__look', {})).toEqual(expected)
  })

  test('head and tail of a long text, and that 10 MiB are too much', async () => {
    const sizes = [200_000, 10 * 1024 * 1024]
    await using server = await serveLegacyTools([{ name: 'look', inputSchema: noArguments }], () =>
      said('ä'.repeat(sizes.shift()! / 2)),
    )
    await using box = await open(server)

    const long = await box.call('crm__look', {})
    const tooLong = await box.call('crm__look', {})

    expect(Buffer.byteLength(long.text)).toBeLessThanOrEqual(65_536)
    expect(long.text).toMatch(/^ä+\n\[cut: 64 of 196 KiB\]\nä+$/)
    expect(tooLong).toEqual({ text: 'It answered more than may be read.', isError: true })
  })

  test('that a server asks for more than arguments: this client has nothing to give', async () => {
    await using server = await serveTools({
      ask: { description: '', answer: () => ({ resultType: 'input_required', inputRequests: {}, requestState: 'x' }) },
    })
    await using box = await open(server)

    expect((await box.call('crm__ask', {})).isError).toBe(true)
  })

  test('a schema of results that takes for ever to match is never matched', async () => {
    const evil = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
    const result = { content: [], structuredContent: { a: `${'a'.repeat(40)}!` } }
    await using server = await serveLegacyTools(
      [{ name: 'look', inputSchema: noArguments, outputSchema: evil } as never],
      () => result,
    )
    await using box = await open(server)

    expect((await box.call('crm__look', {})).isError).toBe(false)
  })
})

/** A server of 2025-06-18 that lists pages as they are given, and forgets its sessions when told to. */
async function servePages(pages: unknown[]) {
  const sessions = new Set<string>()
  let begun = 0
  const server = await startToolServer(({ httpMethod, headers, method, params, id }, response) => {
    if (httpMethod !== 'POST') return void response.writeHead(405).end()
    if (method === 'initialize') {
      const session = `session-${++begun}`
      sessions.add(session)
      response.setHeader('mcp-session-id', session)
      const serverInfo = { name: 'x', version: '1' }
      return answerJson(response, id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })
    }
    if (!sessions.has(headers['mcp-session-id'] ?? '')) return void response.writeHead(404).end('Session not found')
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/call') return answerJson(response, id, said(`Called ${String(params['name'])}`))
    const page = Number(params['cursor'] ?? 0)
    const more = page + 1 < pages.length ? { nextCursor: String(page + 1) } : {}
    answerJson(response, id, { tools: pages[page], ...more })
  })
  return { server, begun: () => begun, forget: () => sessions.clear() }
}

const plainTool = (name: string) => ({ name, inputSchema: noArguments })

describe('one bad part of a server does not cost the others', () => {
  test('a session that the server has lost is opened anew, once for all calls that find that', async () => {
    const { server, begun, forget } = await servePages([[plainTool('look')]])
    await using _ = server
    await using box = await open(server)
    const before = begun()

    forget()
    const results = await Promise.all([1, 2, 3].map(() => box.call('crm__look', {})))

    expect(results).toEqual(results.map(() => ({ text: 'Called look', isError: false })))
    expect(begun() - before).toBe(1)
  })

  test('250 tools in pages are listed, and those that are allowed are offered wherever they stand', async () => {
    const pages = Array.from({ length: 25 }, (_, page) =>
      Array.from({ length: 10 }, (_, i) => plainTool(`t${page * 10 + i}`)),
    )
    const { server } = await servePages(pages)
    await using _ = server
    await using all = await open(server)
    await using some = await open(server, { allowed_tools: ['t0', 't249'] })

    expect(all.tools).toHaveLength(128)
    expect(some.tools.map(({ name }) => name)).toEqual(['crm__t0', 'crm__t249'])
  })

  test.each<[string, unknown]>([
    ['a tool without a schema', { name: 'bad' }],
    ['a schema that is none', { name: 'bad', inputSchema: { type: 'object', properties: 'none' } }],
    ['a name of ten thousand characters', plainTool('x'.repeat(10_000))],
    ['a tool without a name', { inputSchema: noArguments }],
    ['a description that is a number', { ...plainTool('fine'), description: 5 }],
    ['what is no tool at all', null],
  ])('%s', async (_, bad) => {
    const { server } = await servePages([[plainTool('first'), bad, plainTool('last')]])
    await using __ = server
    await using box = await open(server)

    const names = box.tools.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['crm__first', 'crm__last']))
    expect((await box.call('crm__last', {})).text).toBe('Called last')
  })

  test('a page that cannot be read', async () => {
    const { server } = await servePages([[plainTool('first')], 'none', [plainTool('last')]])
    await using _ = server
    await using box = await open(server)

    expect(box.tools.map(({ name }) => name)).toEqual(['crm__first', 'crm__last'])
  })
})

describe('a server that means harm costs the run its tools and nothing else', () => {
  const endless: ToolHandler = ({ method, id, params }, response) => {
    if (method === 'initialize') {
      return answerJson(response, id, {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      })
    }
    if (id === undefined) return void response.writeHead(202).end()
    if (method !== 'tools/list') return void response.writeHead(404).end()
    const page = Number(params.cursor ?? 0)
    answerJson(response, id, { tools: [{ name: `t${page}`, inputSchema: noArguments }], nextCursor: `${page + 1}` })
  }

  test.each([
    ['invalid JSON', (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a"')],
    ['something else', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    [
      'a list of 10 MiB',
      (request, response) =>
        request.method === 'tools/list'
          ? void response
              .writeHead(200, { 'content-type': 'application/json' })
              .end(Buffer.alloc(10 * 1024 * 1024, ' '))
          : endless(request, response, Buffer.alloc(0)),
    ],
  ] satisfies [string, ToolHandler][])('%s', async (_, handler) => {
    await using server = await startToolServer(handler)
    await using box = await open(server)

    expect([box.names, box.unavailable]).toEqual([[], ['crm']])
    expect(server.requests.length).toBeLessThan(20)
  })

  test('an endless list is read for fifty pages', async () => {
    await using server = await startToolServer(endless)
    await using box = await open(server)

    expect(box.names).toHaveLength(50)
    // Once by the client, which refuses a list without an end, and once page by page.
    expect(server.requests.length).toBeLessThan(110)
  })

  test.each([
    ['hangs', hang],
    ['says one byte at a time', drip],
  ])('a server that %s is given up after 10 s', async (_, behaviour) => {
    await using receiver = await startReceiver(behaviour)
    const startedAt = performance.now()
    await using box = await open(receiver)

    expect(box.unavailable).toEqual(['crm'])
    expect(performance.now() - startedAt).toBeLessThan(12_000)
  })

  test('one that is not there, or at a link-local address, or redirects there', async () => {
    await using receiver = await startReceiver(answer(307, '', { location: 'http://169.254.169.254/' }))
    await using nowhere = await open({ url: 'http://127.0.0.1:1/mcp' })
    await using metadata = await open({ url: 'http://169.254.169.254/mcp' })
    await using redirected = await open(receiver)

    expect([nowhere.unavailable, metadata.unavailable, redirected.unavailable]).toEqual([['crm'], ['crm'], ['crm']])
    expect(lines.join('')).toContain('Its address may not be reached.')
    expect(lines.join('')).not.toContain('169.254')
  })
})

interface Changes extends Partial<Omit<ToolServerDefinition, 'name'>> {}

async function open(
  { url }: Pick<ToolServer, 'url'>,
  changes: Changes = {},
  parts: Partial<ToolboxParts> = {},
  functions: Parameters<typeof openToolbox>[0]['functions'] = [],
) {
  const server: ToolServerDefinition = {
    name: 'crm',
    url,
    allowed_tools: null,
    approval_mode: 'never',
    headers: { 'x-key': 'abc' },
    ...changes,
  }
  const of = { agent: { id: 9, uid: 'helper' }, asker: { id: 7, uid: null }, app: { id: 12, uid: null } }
  const all: ToolboxParts = {
    egress: new Egress({ isAllowed: ipCheck({ allowsPrivate: true }) }),
    cache: new ToolServerCache(),
    checker,
    version: '1.2.3',
    secret: null,
    now: () => new Date(),
    log,
    ...parts,
  }
  const box = await openToolbox({ functions, servers: [server], own: [] }, of, all, AbortSignal.timeout(60_000))
  const find = (wanted: string) => box.tools.find(({ name }) => name === wanted)
  return Object.assign(box, {
    find,
    names: box.tools.map(({ name }) => name),
    call: (name: string, args: Record<string, unknown>) =>
      find(name)!.call(args, { run: '88', step: 3, passages: 0, signal: AbortSignal.timeout(60_000) }),
    [Symbol.asyncDispose]: () => box.close(),
  })
}
