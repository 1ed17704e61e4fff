import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { PassThrough, type Duplex } from 'node:stream'

/** Where a proxy passes connections on to: a port on this machine, or a Unix socket. */
export type Target = { port: number } | { path: string }

/** What happens to the bytes of one connection on their way; by default nothing. */
export interface Rewrite {
  toServer?: () => Duplex
  toClient?: () => Duplex
}

interface Link {
  near: Socket
  far: Socket
  up: Duplex
  down: Duplex
}

/**
 * A TCP proxy on a port of its own, which fails on demand: it cuts connections, or holds their bytes back for a time.
 * Unlike a network that fell silent, nothing that is held back gets lost. It lives until `close`.
 */
export class Proxy {
  #target: Target | null = null
  readonly #rewrite: Rewrite
  readonly #links = new Set<Link>()
  readonly #server: Server
  #isStalled = false

  private constructor(rewrite: Rewrite) {
    this.#rewrite = rewrite
    this.#server = createServer(near => this.#open(near))
  }

  static async open(rewrite: Rewrite = {}): Promise<Proxy> {
    const proxy = new Proxy(rewrite)
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Connections that are made from now on lead to the target; without one they are refused. */
  lead(target: Target | null): void {
    this.#target = target
  }

  /** Breaks every connection, at whatever byte it is; new ones can be made at once. */
  cut(): void {
    for (const { near, far } of this.#links) for (const socket of [near, far]) reset(socket)
  }

  /** Nothing gets through until `resume`; new connections are accepted and wait as well. */
  stall(): void {
    this.#isStalled = true
    for (const { near, far } of this.#links) for (const socket of [near, far]) socket.unpipe().pause()
  }

  resume(): void {
    if (!this.#isStalled) return
    this.#isStalled = false
    for (const link of this.#links) flow(link)
  }

  async close(): Promise<void> {
    this.#target = null
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #open(near: Socket): void {
    near.on('error', () => {})
    if (this.#target === null) return void near.resetAndDestroy()
    const far = connect(this.#target)
    const { toServer = () => new PassThrough(), toClient = () => new PassThrough() } = this.#rewrite
    const link: Link = { near, far, up: toServer(), down: toClient() }
    this.#links.add(link)
    const end = () => {
      this.#links.delete(link)
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) socket.setNoDelay(true).on('error', end).on('close', end)
    link.up.pipe(far)
    link.down.pipe(near)
    if (!this.#isStalled) flow(link)
  }
}

/** Ends a connection without a good-bye; Unix sockets have none to begin with. */
function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}

function flow({ near, far, up, down }: Link): void {
  near.pipe(up)
  far.pipe(down)
}
