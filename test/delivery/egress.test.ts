import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { ipCheck, type IpPolicy } from '../../src/egress/ip-policy.ts'
import { Egress, type EgressRequest, type Resolve } from '../../src/egress/egress.ts'
import { EgressFailed } from '../../src/egress/egress-failed.ts'
import { answer, drip, flood, hang, startReceiver } from '../support/receiver.ts'

const trusting: IpPolicy = { allowsPrivate: true }

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

test('an address that takes a second to connect is not given up for one that nobody answers at', async () => {
  await using busy = await startBusy(800)

  const client = egress(trusting, resolvingTo('127.0.0.1', '127.0.0.2'))
  const response = await get(client, `http://both.test:${busy.port}/`)

  expect(response.body.toString()).toBe('late')
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

test.each([
  ['HEAD', 200],
  ['POST', 302],
  ['PUT', 302],
  ['DELETE', 302],
] as const)(
  'a redirect of %s comes to %i: only what changes nothing is asked for elsewhere',
  async (method, status) => {
    await using end = await startReceiver()
    await using start = await startReceiver(answer(302, '', { location: end.url }))

    const response = await egress().send({ ...basics, method, url: start.url, redirects: 3 })

    expect(response.status).toBe(status)
    expect(end.requests).toHaveLength(status === 200 ? 1 : 0)
  },
)

test.each([
  [300, false],
  [301, true],
  [302, true],
  [303, true],
  [304, false],
  [307, true],
  [308, true],
])('whether %i with another address is a redirect: %s', async (status, expected) => {
  await using end = await startReceiver()
  await using start = await startReceiver(answer(status, '', { location: end.url }))

  const response = await egress().send({ ...basics, url: start.url, redirects: 1 })

  expect(response.status).toBe(expected ? 200 : status)
})

test('a redirect to nowhere is an answer like any other', async () => {
  await using receiver = await startReceiver(answer(302, 'nowhere'))

  const response = await egress().send({ ...basics, url: receiver.url, redirects: 3 })

  expect([response.status, response.body.toString()]).toEqual([302, 'nowhere'])
})

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

test('an exchange leaves nothing behind at the signal that could have stopped it', async () => {
  await using receiver = await startReceiver()
  const { signal } = new AbortController()
  const before = inspect(signal, { customInspect: false, showHidden: true })

  for (const url of [receiver.url, 'ftp://127.0.0.1/']) {
    await Promise.allSettled([egress().send({ ...basics, url, signal })])
  }

  expect(inspect(signal, { customInspect: false, showHidden: true })).toBe(before)
})

test('what is stopped before it begins is not sent', async () => {
  await using receiver = await startReceiver()

  const failure = await failureOf(egress().send({ ...basics, url: receiver.url, signal: AbortSignal.abort() }))

  expect(failure.fault).toBe('stopped')
  expect(receiver.requests).toHaveLength(0)
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

test('what is said before the answer is passed over, and where that never ends, it is a failure at once', async () => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n'
  await using brief = await startSpeaker(socket => socket.end(`${hints.repeat(3)}HTTP/1.1 200 OK\r\n\r\nat last`))
  await using endless = await startSpeaker(socket => {
    const more = () => {
      while (!socket.destroyed && socket.write(hints.repeat(1_000))) continue
    }
    socket.on('drain', more)
    more()
  })

  const response = await get(egress(), brief.url)
  const failure = await failureOf(get(egress(), endless.url))

  expect(response.body.toString()).toBe('at last')
  expect(failure).toMatchObject({ fault: 'connection', message: 'The other side said too much before its answer' })
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

/** A server that says what it likes to whoever connects. */
async function startSpeaker(speak: (socket: Socket) => void) {
  const server = createServer(socket => speak(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

/** A server that answers 'late', and stands still at first: there are so many before us that nobody gets through. */
async function startBusy(stillMs: number) {
  const program = `
    const { parentPort } = require('node:worker_threads')
    const server = require('node:http').createServer((_request, response) => response.end('late'))
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${stillMs})
    })`
  const worker = new Worker(program, { eval: true })
  const [port] = (await once(worker, 'message')) as [number]
  const waiting = [1, 2].map(() => connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.all(waiting.map(socket => once(socket, 'connect')))
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of waiting) socket.destroy()
      await worker.terminate()
    },
  }
}

const basics = { method: 'GET', headers: {}, deadlineMs: 3_000, keepBytes: 65_536 } satisfies Omit<EgressRequest, 'url'>

function egress(policy: IpPolicy = trusting, resolve?: Resolve): Egress {
  return new Egress({ isAllowed: ipCheck(policy), ...(resolve && { resolve }) })
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
