import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addressCheck, type AddressPolicy } from '../../src/delivery/addresses.ts'
import { Egress, EgressFailed, type EgressRequest, type Resolve } from '../../src/delivery/egress.ts'
import { answer, drip, flood, hang, startReceiver } from '../support/receiver.ts'

const trusting: AddressPolicy = { allowsPrivate: true }
const publicOnly: AddressPolicy = { allowsPrivate: false }

test('an answer comes back with its status, headers and body', async () => {
  await using receiver = await startReceiver(answer(201, 'made', { 'x-color': 'blue' }))

  const response = await get(egress(), receiver.url)

  expect(response).toMatchObject({ status: 201, headers: { 'x-color': 'blue' }, isCut: false })
  expect(response.body.toString()).toBe('made')
})

test('a request arrives with its method, headers and exact bytes', async () => {
  await using receiver = await startReceiver()

  const body = Buffer.from('{"text":"Grüße"}')
  await egress().send({ ...basics, method: 'POST', url: receiver.url, headers: { 'X-Color': 'blue' }, body })

  expect(receiver.requests).toMatchObject([
    { method: 'POST', path: '/hook', headers: { 'x-color': 'blue' }, body: body.toString() },
  ])
})

test.each([
  ['loopback', '127.0.0.1'],
  ['loopback, in short', '127.1'],
  ['loopback, in decimal', '2130706433'],
  ['loopback, in octal', '017700000001'],
  ['loopback, in hex', '0x7f.0x0.0x0.0x1'],
  ['loopback, percent-encoded', '%31%32%37.0.0.1'],
  ['loopback, in full-width digits', '１２７.0.0.1'],
  ['loopback with a dot at the end', '127.0.0.1.'],
  ['another loopback address', '127.8.9.10'],
  ['loopback of IPv6', '[::1]'],
  ['IPv4-mapped loopback', '[::ffff:127.0.0.1]'],
  ['IPv4-mapped loopback in hex', '[::ffff:7f00:1]'],
  ['IPv4-compatible loopback', '[::7f00:1]'],
  ['IPv4-translated loopback', '[::ffff:0:7f00:1]'],
  ['the unspecified address', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['the unspecified address of IPv6', '[::]'],
  ['private 10/8', '10.1.2.3'],
  ['private 172.16/12', '172.31.255.255'],
  ['private 192.168/16', '192.168.0.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['link-local, where clouds keep credentials', '169.254.169.254'],
  ['link-local, in decimal', '2852039166'],
  ['link-local of IPv6', '[fe80::1]'],
  ['site-local of IPv6', '[fec0::1]'],
  ['unique local', '[fd12:3456::1]'],
  ['multicast', '224.0.0.1'],
  ['multicast of IPv6', '[ff02::1]'],
  ['broadcast', '255.255.255.255'],
  ['documentation', '192.0.2.1'],
  ['benchmarks', '198.18.0.1'],
  ['reserved', '240.0.0.1'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['local NAT64', '[64:ff9b:1::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['Teredo', '[2001::1]'],
  ['documentation of IPv6', '[2001:db8::1]'],
  ['discard-only', '[100::1]'],
  ['unassigned IPv6', '[4000::1]'],
])('with public addresses only, %s is refused', async (_name, host) => {
  const failure = await failureOf(get(egress(publicOnly), `http://${host}:9/`))

  expect(failure.fault).toBe('address')
})

test('public addresses of both kinds are allowed', () => {
  const isAllowed = addressCheck(publicOnly)

  expect(['93.184.215.14', '::ffff:93.184.215.14', '2606:2800:21f::1'].filter(isAllowed)).toHaveLength(3)
})

test('with private addresses allowed, link-local and unspecified ones are still refused', () => {
  const isAllowed = addressCheck(trusting)

  expect(['127.0.0.1', '10.0.0.1', '100.64.0.1', '::1', 'fd00::1'].filter(isAllowed)).toHaveLength(5)
  expect(['169.254.169.254', 'fe80::1', '0.0.0.0', '::', '224.0.0.1', '64:ff9b::7f00:1'].filter(isAllowed)).toEqual([])
})

test('a range that is allowed opens what is closed, and a denied one closes what is open', () => {
  const isAllowed = addressCheck({
    allowsPrivate: true,
    allow: ['169.254.1.0/24'],
    deny: ['10.0.0.0/8', '169.254.1.9/32'],
  })

  expect(isAllowed('169.254.1.8')).toBe(true)
  expect(isAllowed('192.168.0.1')).toBe(true)
  expect(isAllowed('10.1.1.1')).toBe(false)
  expect(isAllowed('::ffff:10.1.1.1')).toBe(false)
  expect(isAllowed('169.254.1.9')).toBe(false)
})

test.each(['10.0.0.0', '10.0.0.0/33', 'intranet', '::ffff:10.0.0.0/104'])('%s is no range to configure', range => {
  expect(() => addressCheck({ allowsPrivate: true, deny: [range] })).toThrow(range)
})

test('a name with one refused address among good ones is refused', async () => {
  await using receiver = await startReceiver()
  const resolve = resolvingTo('127.0.0.1', '10.0.0.1')

  const failure = await failureOf(
    get(egress({ allowsPrivate: true, deny: ['10.0.0.0/8'] }, resolve), `http://two.test:${receiver.port}/`),
  )

  expect(failure.fault).toBe('address')
  expect(receiver.requests).toHaveLength(0)
})

test('a name that changes its address after the check is reached where it was checked', async () => {
  await using receiver = await startReceiver()
  const answers = [['127.0.0.1'], ['10.0.0.1'], ['10.0.0.1']]
  const rebinding: Resolve = () => resolvingTo(...answers.shift()!)('rebinding.test')
  const client = egress({ allowsPrivate: true, deny: ['10.0.0.0/8'] }, rebinding)

  await get(client, `http://rebinding.test:${receiver.port}/`)
  const failure = await failureOf(get(client, `http://rebinding.test:${receiver.port}/`))

  expect(receiver.requests).toMatchObject([{ headers: { host: `rebinding.test:${receiver.port}` } }])
  expect(answers).toHaveLength(1)
  expect(failure.fault).toBe('address')
})

test('a name is tried at all of its addresses', async () => {
  await using receiver = await startReceiver()

  const response = await get(egress(trusting, resolvingTo('::1', '127.0.0.1')), `http://both.test:${receiver.port}/`)

  expect(response.status).toBe(200)
})

test.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:text/plain,x', 'gopher://127.0.0.1/', '//127.0.0.1/', 'x'])(
  '%s is no URL to reach',
  async url => {
    const failure = await failureOf(get(egress(), url))

    expect(failure.fault).toBe('url')
  },
)

test('a redirect is an answer like any other when none are to be followed', async () => {
  await using receiver = await startReceiver(answer(302, '', { location: 'http://127.0.0.1:1/' }))

  const response = await get(egress(), receiver.url)

  expect(response).toMatchObject({ status: 302, headers: { location: 'http://127.0.0.1:1/' } })
})

test('a redirect is followed to a place that may be reached, and leaves credentials behind', async () => {
  await using end = await startReceiver(answer(200, 'there'))
  await using start = await startReceiver(answer(302, '', { location: end.url }))

  const headers = { authorization: 'Bearer secret', 'x-key': 'secret', accept: 'image/*' }
  const response = await egress().send({ ...basics, url: start.url, headers, redirects: 3 })

  expect(response.body.toString()).toBe('there')
  expect(response.url.href).toBe(end.url)
  expect(end.requests[0]!.headers).toMatchObject({ accept: 'image/*' })
  expect(end.requests[0]!.headers).not.toHaveProperty('authorization')
  expect(end.requests[0]!.headers).not.toHaveProperty('x-key')
})

test.each(['http://10.0.0.1/', 'http://inside.test/', 'http://167772161/', '//10.0.0.1/'])(
  'a redirect to %s is refused where that may not be reached',
  async location => {
    await using receiver = await startReceiver(answer(302, '', { location }))
    const resolve: Resolve = host => resolvingTo(host === 'inside.test' ? '10.0.0.1' : '127.0.0.1')(host)
    const client = egress({ allowsPrivate: true, deny: ['10.0.0.0/8'] }, resolve)

    const failure = await failureOf(client.send({ ...basics, url: `http://out.test:${receiver.port}`, redirects: 3 }))

    expect(failure.fault).toBe('address')
  },
)

test('a redirect to another scheme is refused', async () => {
  await using receiver = await startReceiver(answer(302, '', { location: 'file:///etc/passwd' }))

  const failure = await failureOf(egress().send({ ...basics, url: receiver.url, redirects: 3 }))

  expect(failure.fault).toBe('url')
})

test('redirects in a circle come to an end', async () => {
  await using receiver = await startReceiver(answer(302, '', { location: '/hook' }))

  const failure = await failureOf(egress().send({ ...basics, url: receiver.url, redirects: 3 }))

  expect(failure.fault).toBe('redirects')
  expect(receiver.requests).toHaveLength(4)
})

test('an endless body is cut after what is kept, and the connection with it', async () => {
  await using receiver = await startReceiver(flood)

  const response = await get(egress(), receiver.url)

  expect(response.body).toHaveLength(basics.keepBytes)
  expect(response.isCut).toBe(true)
  await expect.poll(() => receiver.inFlight).toBe(0)
  expect(receiver.sentBytes).toBeLessThan(50 * 1024 * 1024)
})

test('a body of exactly the size that is kept is not cut', async () => {
  await using receiver = await startReceiver(answer(200, 'x'.repeat(basics.keepBytes)))

  const response = await get(egress(), receiver.url)

  expect(response).toMatchObject({ isCut: false })
  expect(response.body).toHaveLength(basics.keepBytes)
})

test('the deadline ends an answer that never comes', async () => {
  await using receiver = await startReceiver(hang)

  const failure = await failureOf(egress().send({ ...basics, url: receiver.url, deadlineMs: 200 }))

  expect(failure).toMatchObject({ fault: 'deadline', partial: undefined })
  await expect.poll(() => receiver.inFlight).toBe(0)
})

test('the deadline ends an answer that drips, and what had come is kept', async () => {
  await using receiver = await startReceiver(drip)

  const failure = await failureOf(egress().send({ ...basics, url: receiver.url, deadlineMs: 300 }))

  expect(failure.fault).toBe('deadline')
  expect(failure.partial).toMatchObject({ status: 200 })
  expect(failure.partial!.body.toString()).toMatch(/^\.+$/)
  await expect.poll(() => receiver.inFlight).toBe(0)
})

test('the deadline ends a resolver that hangs', async () => {
  const client = egress(trusting, () => new Promise(() => {}))

  const failure = await failureOf(client.send({ ...basics, url: 'http://slow.test/', deadlineMs: 100 }))

  expect(failure.fault).toBe('deadline')
})

test('the deadline counts over all redirects together', async () => {
  await using receiver = await startReceiver((_request, response) => {
    setTimeout(() => response.writeHead(302, { location: '/hook' }).end(), 60)
  })

  const failure = await failureOf(egress().send({ ...basics, url: receiver.url, deadlineMs: 200, redirects: 100 }))

  expect(failure.fault).toBe('deadline')
})

test('a caller can stop an exchange', async () => {
  await using receiver = await startReceiver(hang)
  const stop = new AbortController()

  const exchange = failureOf(egress().send({ ...basics, url: receiver.url, signal: stop.signal }))
  await receiver.take(1)
  stop.abort()

  expect((await exchange).fault).toBe('stopped')
})

test('a connection that is refused, or a name that does not exist, is a failure with a reason', async () => {
  const resolve: Resolve = () => Promise.reject(new Error('ENOTFOUND'))

  const refused = await failureOf(get(egress(), 'http://127.0.0.1:1/'))
  const unknown = await failureOf(get(egress(trusting, resolve), 'http://nowhere.test/'))

  expect(refused).toMatchObject({ fault: 'connection', message: expect.stringContaining('ECONNREFUSED') })
  expect(unknown).toMatchObject({ fault: 'name', message: 'nowhere.test could not be resolved' })
})

test.each([
  ['breaks off in the middle', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
  ['closes without a word', ''],
  ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ['switches protocols', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ['has no end of headers', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(5_000)}`],
])('an answer that %s is a failure', async (_name, bytes) => {
  const server = createServer(socket => socket.on('error', () => {}).end(bytes)).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const failure = await failureOf(get(egress(), `http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  server.close()

  expect(failure.fault).toBe('connection')
})

test('a certificate that nobody vouches for is refused', async () => {
  const pem = readFileSync(join(import.meta.dirname, 'self-signed.pem'))
  const server = createTlsServer({ key: pem, cert: pem }, (_request, response) => response.end('ok'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const client = egress(trusting, resolvingTo('127.0.0.1'))
  const failure = await failureOf(get(client, `https://receiver.test:${(server.address() as AddressInfo).port}/`))
  server.close()

  expect(failure).toMatchObject({ fault: 'connection', message: expect.stringContaining('self-signed') })
})

const basics = { method: 'GET', headers: {}, deadlineMs: 3_000, keepBytes: 65_536 } satisfies Omit<EgressRequest, 'url'>

function egress(policy: AddressPolicy = trusting, resolve?: Resolve): Egress {
  return new Egress({ isAllowed: addressCheck(policy), ...(resolve && { resolve }) })
}

function get(client: Egress, url: string) {
  return client.send({ ...basics, url })
}

async function failureOf(exchange: Promise<unknown>): Promise<EgressFailed> {
  const error = await exchange.then(
    () => new Error('There was an answer'),
    (error: unknown) => error,
  )
  if (error instanceof EgressFailed) return error
  throw error
}

const resolvingTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }))
