import { setTimeout as delay } from 'node:timers/promises'
import { pack, unpack } from 'msgpackr'
import { WebSocket, type RawData } from 'ws'
import type { FaultyNode } from './node.ts'
import type { Observer, ObserverOptions } from './observer.ts'

/** A connection that has been silent for so long is given up, although a ping was sent: it may be stalled for ever. */
const silenceMs = 3_000

/**
 * Listens to all apps over the native protocol as docs/realtime.md tells clients to: it remembers the last rev of each
 * app and, whenever its connection has ended, goes on from there on any node. Now and then it changes nodes of its own
 * accord. With MessagePack it also says the epoch, as newer clients do, and so is reset by every promotion; without, it is to
 * notice nothing where nothing is lost.
 */
export class NativeObserver implements Observer {
  readonly #options: ObserverOptions
  readonly #protocol: 'json' | 'msgpack'
  readonly #last = new Map<number, number>()
  /** The epoch that belongs to it, and that of the last answer. */
  readonly #epochs = new Map<number, unknown>()
  readonly #answered = new Map<number, unknown>()
  #connections = 0

  constructor(options: ObserverOptions, protocol: 'json' | 'msgpack') {
    this.#options = options
    this.#protocol = protocol
  }

  last(app: number): number | undefined {
    return this.#last.get(app)
  }

  async run(): Promise<void> {
    const { signal, random, nodes } = this.#options
    while (!signal.aborted) {
      await this.#connect(random.pick(nodes))
      await delay(random.integer(10, 300))
    }
  }

  /** Resolves when the connection has ended. */
  async #connect(node: FaultyNode): Promise<void> {
    const { name: observer, person, world, recorder, random, signal } = this.#options
    const connection = ++this.#connections
    const about = { observer, connection, node: node.number }
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/realtime`, [this.#protocol], {
      headers: { authorization: `Bearer ${person.token}` },
      perMessageDeflate: false,
      handshakeTimeout: silenceMs,
    })
    const ended = new Promise<void>(resolve => socket.once('close', () => resolve()))
    let heardAt = performance.now()
    let isLeft = false
    const leave = () => {
      isLeft = true
      socket.terminate()
    }
    const askedAt = recorder.now()
    const say = (frame: object) => {
      const text = JSON.stringify(frame)
      // From the text, because msgpackr has an extension for what is undefined.
      socket.send(this.#protocol === 'json' ? text : pack(JSON.parse(text)))
    }
    socket.on('error', () => {})
    socket.on('open', () => {
      for (const app of world.apps) {
        const epoch = this.#saysEpoch ? this.#epochs.get(app) : undefined
        say({ type: 'subscribe', app_id: app, after: this.#last.get(app), epoch })
      }
    })
    socket.on('message', (message: RawData, isBinary: boolean) => {
      heardAt = performance.now()
      if (isLeft) return
      const bytes = message as Buffer
      this.#take(isBinary ? unpack(bytes) : JSON.parse(bytes.toString()), { ...about, askedAt })
    })
    const leaveAt = performance.now() + random.integer(2_000, 30_000)
    const watch = setInterval(() => {
      const now = performance.now()
      if (signal.aborted || now > leaveAt || now - heardAt > silenceMs) leave()
      else if (socket.readyState === WebSocket.OPEN) say({ type: 'ping' })
    }, 500)
    await ended
    clearInterval(watch)
    recorder.saw('native', { ...about, app: 0, frame: 'closed', rev: 0 })
  }

  #take(
    frame: Record<string, unknown>,
    about: { observer: string; connection: number; node: number; askedAt: number },
  ) {
    const type = frame.type
    if (type !== 'subscribed' && type !== 'event' && type !== 'current' && type !== 'reset') return
    const { askedAt, ...place } = about
    const app = Number(frame.app_id)
    const rev = Number(frame.rev)
    const base = { ...place, app, frame: type, rev } as const
    const { recorder } = this.#options
    if (type === 'event') {
      const entity = frame.message as { id?: unknown } | undefined
      const item = entity === undefined ? {} : { item: Number(entity.id) }
      recorder.saw('native', { ...base, prev: Number(frame.prev), event: String(frame.event), ...item })
    } else if (type === 'subscribed') {
      const known = this.#epochs.get(app)
      const isRenewed = this.#saysEpoch && known !== undefined && known !== frame.epoch
      recorder.saw('native', { ...base, after: this.#last.get(app), askedAt, ...(isRenewed && { isRenewed }) })
      this.#answered.set(app, frame.epoch)
      // Where the connection breaks before the reset, the next one has to get it.
      if (isRenewed) return
    } else {
      recorder.saw('native', base)
    }
    this.#last.set(app, rev)
    this.#epochs.set(app, this.#answered.get(app))
  }

  get #saysEpoch(): boolean {
    return this.#protocol === 'msgpack'
  }
}
