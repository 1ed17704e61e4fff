import { once } from 'node:events'
import { pack, unpack } from 'msgpackr'
import { WebSocket, type RawData } from 'ws'
import type { Body } from './client.ts'

/** A frame as it arrived. */
export type Heard = Body

export interface ConnectOptions {
  protocol?: 'json' | 'msgpack'
  scalars?: 'string' | 'number'
  /** Without one, the client is to say hello itself. */
  token?: string
}

interface Waiting {
  isMet: () => boolean
  resolve: () => void
}

/** A client of /api/realtime that remembers every frame. */
export class Listener implements AsyncDisposable {
  /** Everything that was heard and not taken yet, oldest first. */
  readonly frames: Heard[] = []
  /** Resolves with the code when the connection has ended, from whichever side. */
  readonly closed: Promise<number>
  readonly socket: WebSocket
  readonly #isBinary: boolean
  #waiting: Waiting[] = []
  #ending = 'open'

  constructor(socket: WebSocket, isBinary: boolean) {
    this.socket = socket
    this.#isBinary = isBinary
    this.closed = new Promise(resolve => socket.once('close', resolve))
    void this.closed.then(code => (this.#ending = `closed with ${code}`))
    socket.on('error', () => {})
    socket.on('message', (message: RawData, isBinaryFrame: boolean) => {
      const bytes = message as Buffer
      this.frames.push(isBinaryFrame ? unpack(bytes) : JSON.parse(bytes.toString()))
      this.#waiting = this.#waiting.filter(({ isMet, resolve }) => !isMet() || resolve())
    })
    socket.on('close', () => this.#waiting.forEach(({ resolve }) => resolve()))
  }

  say(frame: object): void {
    const text = JSON.stringify(frame)
    // From the text, because msgpackr has an extension for what is undefined.
    this.socket.send(this.#isBinary ? pack(JSON.parse(text)) : text)
  }

  /** Waits for the next frame of this type and takes it out, with everything that came before it. */
  async hear(type: string, matches: (frame: Heard) => boolean = () => true): Promise<Heard> {
    return (await this.hearUntil(type, matches)).at(-1)
  }

  /** Waits for the next frame of this type and takes out everything up to it, oldest first. */
  async hearUntil(type: string, matches: (frame: Heard) => boolean = () => true): Promise<Heard[]> {
    const find = () => this.frames.findIndex(frame => frame.type === type && matches(frame))
    await this.#until(
      () => find() !== -1,
      () => `no frame ${type}`,
    )
    return this.frames.splice(0, find() + 1)
  }

  /** Waits for `count` frames of this type and takes them out, leaving all others. */
  async take(count: number, type = 'event', timeoutMs = 20_000): Promise<Heard[]> {
    const find = () => this.frames.filter(frame => frame.type === type)
    await this.#until(
      () => find().length >= count,
      () => `${find().length} of ${count} frames ${type}`,
      timeoutMs,
    )
    const taken = new Set(find().slice(0, count))
    this.frames.splice(0, this.frames.length, ...this.frames.filter(frame => !taken.has(frame)))
    return [...taken]
  }

  /** Answers when the server has handled everything that this client said so far. */
  async settle(): Promise<void> {
    this.say({ type: 'ping' })
    await this.take(1, 'pong')
  }

  async subscribe(app: string, after?: string | number): Promise<Heard> {
    this.say({ type: 'subscribe', app_id: app, after })
    const isIt = (frame: Heard) => String(frame.app_id) === app
    await this.#until(
      () => this.frames.some(frame => ['subscribed', 'error'].includes(frame.type) && isIt(frame)),
      () => 'no answer to subscribe',
    )
    const at = this.frames.findIndex(frame => ['subscribed', 'error'].includes(frame.type) && isIt(frame))
    return this.frames.splice(at, 1)[0]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate()
    await this.closed
  }

  async #until(isMet: () => boolean, complaint: () => string, timeoutMs = 20_000): Promise<void> {
    if (isMet()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeoutMs)
    this.#waiting.push({ isMet, resolve })
    await promise
    clearTimeout(timer)
    if (!isMet())
      throw new Error(`${complaint()}, ${this.#ending}; heard ${JSON.stringify(this.frames.slice(-5)).slice(0, 1_000)}`)
  }
}

/** Connects and, with a token, waits for the welcome. */
export async function listen(
  url: string,
  { protocol = 'json', scalars, token }: ConnectOptions = {},
): Promise<Listener> {
  const query = scalars === undefined ? '' : `?scalars=${scalars}`
  const address = `${url.replace(/^http/, 'ws')}/api/realtime${query}`
  const socket = new WebSocket(address, [protocol, ...(token === undefined ? [] : [`bearer.${token}`])])
  const listener = new Listener(socket, protocol === 'msgpack')
  await once(socket, 'open')
  if (token !== undefined) await listener.hear('welcome')
  return listener
}

/** The code with which a connection is closed that may not stay. */
export async function closedWith(address: string, protocols: string[] = []): Promise<number> {
  const socket = new WebSocket(address.replace(/^http/, 'ws'), protocols)
  return await new Promise(resolve => socket.once('close', resolve))
}

/** The status with which an upgrade is refused. */
export async function refusedUpgrade(address: string, protocols: string[] = []): Promise<number> {
  const socket = new WebSocket(address.replace(/^http/, 'ws'), protocols)
  const status = await new Promise<number>((resolve, reject) => {
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
    socket.once('open', () => reject(new Error('The upgrade was not refused')))
  })
  socket.once('error', () => {})
  socket.terminate()
  return status
}
