import { expect, test } from 'vitest'
import { z } from 'zod'
import { reply, route } from '../../src/http/route.ts'
import { startEdge } from '../support/edge.ts'
import { requestText, Wire } from '../support/wire.ts'

const whoami = route('GET /api/whoami', {
  summary: 'Show where a request came from, and where to',
  auth: 'none',
  replies: { 200: z.object({}) },
  handle: ({ origin, addressOf }) => reply(200, { origin, address: addressOf() }),
})

async function ask(
  edge: { port: number },
  headers: Record<string, string>,
): Promise<{ origin: string; address: string }> {
  const wire = await Wire.open(edge.port)
  await wire.send(requestText('GET', '/api/whoami', headers))
  const { body } = await wire.answer()
  wire.destroy()
  return JSON.parse(body) as { origin: string; address: string }
}

test('the origin is what the client calls this server', async () => {
  await using edge = await startEdge([whoami])

  for (const host of ['chat.example', 'chat.example:8443', '127.0.0.1:80', '[::1]:8080']) {
    expect((await ask(edge, { Host: host })).origin).toBe(`http://${host}`)
  }
})

test.each(['evil.example/path', 'a@b', 'a b', 'a?b', 'a#b', 'a\\b', '"><script>', 'host:port', 'a.ä.example'])(
  'a host of %s is not believed, and refused where it is in Host itself',
  async host => {
    await using edge = await startEdge([whoami], { settings: { isProxied: true } })

    expect((await ask(edge, { Host: host })).origin).toBeUndefined()
    expect((await ask(edge, { 'X-Forwarded-Host': host })).origin).toBe(edge.url.replace('127.0.0.1', 'localhost'))
  },
)

test.each(["a!b$&'()*+,;=", '%C3%A4.example', 'a:', '[::ffff:10.0.0.1]:'])(
  'a host of %s is one, and makes no URL',
  async host => {
    await using edge = await startEdge([whoami])

    const { origin } = await ask(edge, { Host: host })

    expect([edge.url.replace('127.0.0.1', 'localhost'), `http://${host}`]).toContain(origin)
  },
)

test('a public URL goes before what requests say', async () => {
  await using edge = await startEdge([whoami], { settings: { publicUrl: 'https://chat.example', isProxied: true } })

  const { origin } = await ask(edge, { Host: 'other.example', 'X-Forwarded-Host': 'third.example' })

  expect(origin).toBe('https://chat.example')
})

test('what proxies add is believed only where there is one', async () => {
  await using direct = await startEdge([whoami])
  await using proxied = await startEdge([whoami], { settings: { isProxied: true } })
  const forwarded = {
    Host: 'inner:8080',
    'X-Forwarded-For': '10.9.9.9, 203.0.113.7',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'chat.example',
  }

  expect(await ask(direct, forwarded)).toEqual({ origin: 'http://inner:8080', address: '127.0.0.1' })
  expect(await ask(proxied, forwarded)).toEqual({ origin: 'https://chat.example', address: '203.0.113.7' })
  expect(await ask(proxied, { Host: 'inner' })).toEqual({ origin: 'http://inner', address: '127.0.0.1' })
})

test('what a client writes before a proxy does not count, in the same line or in one of its own', async () => {
  await using edge = await startEdge([whoami], { settings: { isProxied: true } })

  const inOne = await ask(edge, { 'X-Forwarded-For': '10.9.9.9, 203.0.113.7' })
  const inTwo = await ask(edge, { 'X-Forwarded-For': '10.9.9.9', 'x-forwarded-for': '203.0.113.7' })

  expect([inOne.address, inTwo.address]).toEqual(['203.0.113.7', '203.0.113.7'])
})
