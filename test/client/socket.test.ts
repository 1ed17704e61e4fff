import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Incoming } from '../../src/client/connection/frames.ts'
import { Socket, type WebSocketLike, type WebSocketType } from '../../src/client/connection/socket.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The browser's end of a connection to a server that says only what the test makes it say. */
class Remote extends EventTarget {
  readonly said: { type: string }[] = []
  isClosed = false

  send(text: string): void {
    this.said.push(JSON.parse(text))
  }
  /** Nobody answers, so the close event does not come: a browser waits for it for a while. */
  close(): void {
    this.isClosed = true
  }
  open(): void {
    this.dispatchEvent(new Event('open'))
  }
  say(frame: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(frame) }))
  }
  break(code: number): void {
    this.dispatchEvent(Object.assign(new Event('close'), { code }))
  }
}

function connect(saysHello = false) {
  const remote = new Remote()
  const asked: unknown[] = []
  const heard: Incoming[] = []
  const ends: number[] = []
  const WebSocket = function (...args: unknown[]) {
    asked.push(...args)
    return remote as unknown as WebSocketLike
  } as unknown as WebSocketType
  const line = new Socket({
    url: 'ws://host/api/realtime',
    token: 'secret',
    saysHello,
    WebSocket,
    onFrame: frame => void heard.push(frame),
    onClose: code => void ends.push(code),
  })
  return { line, remote, asked, heard, ends }
}

test('a connection that is not opened within ten seconds is given up', () => {
  const { remote, ends } = connect()

  vi.advanceTimersByTime(9_999)
  const early = [...ends]
  vi.advanceTimersByTime(1)

  expect([early, ends, remote.isClosed]).toEqual([[], [1006], true])
})

test('a connection that fails is given up after a moment, unless its close event comes before', () => {
  const [silent, closed] = [connect(), connect()]

  for (const { remote } of [silent, closed]) remote.dispatchEvent(new Event('error'))
  closed.remote.break(4401)
  vi.advanceTimersByTime(99)
  const early = [...silent.ends]
  vi.advanceTimersByTime(1)

  expect([early, silent.ends, closed.ends]).toEqual([[], [1006], [4401]])
})

test('a connection that a proxy refuses to open is given up at once, with the WebSocket of Node.js', async () => {
  vi.useRealTimers()
  const proxy = createServer().on('upgrade', (_request, socket: Duplex) => {
    socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const startedAt = performance.now()

  const { promise: closed, resolve: onClose } = Promise.withResolvers<number>()
  const connection = new Socket({
    url: `ws://127.0.0.1:${port}`,
    token: 'secret',
    saysHello: false,
    WebSocket: WebSocket as unknown as WebSocketType,
    onFrame: () => {},
    onClose,
  })
  const code = await closed
  connection.close()
  proxy.close()

  expect(code).toBe(1006)
  expect(performance.now() - startedAt).toBeLessThan(5_000)
})

test('a connection that falls silent is asked whether it is there, and given up when nothing comes back', () => {
  const { remote, ends } = connect()
  remote.say({ type: 'welcome' })

  vi.advanceTimersByTime(19_999)
  const early = [...remote.said]
  vi.advanceTimersByTime(1)
  const asked = [...remote.said]
  vi.advanceTimersByTime(9_999)
  const patient = [...ends]
  vi.advanceTimersByTime(1)

  expect([early, asked, patient]).toEqual([[], [{ type: 'ping' }], []])
  expect([ends, remote.isClosed]).toEqual([[1006], true])
})

test('a silent connection that answers lives on, and the answer is for nobody else', () => {
  const { remote, heard, ends } = connect()
  for (let i = 0; i < 20; i++) {
    remote.say({ type: 'pong' })
    vi.advanceTimersByTime(20_000)
  }

  expect(remote.said).toHaveLength(20)
  expect([heard, ends]).toEqual([[], []])
})

test('a connection that says something now and then is not asked', () => {
  const { remote, heard, ends } = connect()
  for (let i = 0; i < 20; i++) {
    remote.say({ type: 'typing' })
    vi.advanceTimersByTime(19_999)
  }

  expect(heard).toHaveLength(20)
  expect([remote.said, ends]).toEqual([[], []])
})

test('the end of a connection is told once, and nothing that comes behind it', () => {
  const { line, remote, heard, ends } = connect()
  remote.break(4401)
  remote.break(1006)
  remote.say({ type: 'typing' })
  line.send({ type: 'ping' })
  vi.advanceTimersByTime(60_000)

  expect([ends, heard, remote.said]).toEqual([[4401], [], []])
})

test('a connection that is closed here tells nobody, and hears nothing more', () => {
  const { line, remote, heard, ends } = connect()
  line.close()
  remote.say({ type: 'typing' })
  remote.break(1000)
  vi.advanceTimersByTime(60_000)

  expect([heard, ends, remote.isClosed]).toEqual([[], [], true])
})

test('the token is said before the connection is open, or with the first frame', () => {
  const [early, late] = [connect(), connect(true)]
  for (const { remote } of [early, late]) remote.open()

  expect([early.asked[1], early.remote.said]).toEqual([['json', 'bearer.secret'], []])
  expect(late.asked[1]).toEqual(['json'])
  expect(late.remote.said).toEqual([{ type: 'hello', access_token: 'secret', scalars: 'number' }])
})
