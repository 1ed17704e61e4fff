import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  Agent,
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream'

/** A node behind the balancer. */
interface Target {
  name: string
  host: string
  port: number
  agent: Agent
  /** Its last /ready: a node that is stopping or does not answer gets no request that another can take. */
  isReady: boolean
}

/** The interval of readiness checks. A node that stops abruptly is noticed by its first refused connection. */
const checkMs = 500

/** Hop-by-hop headers (RFC 9110, section 7.6.1), and the length, which is computed again. */
const ofConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])

/**
 * A small HTTP and WebSocket load balancer, for several nodes on one machine. All requests that name an app in their
 * path go to one node while it is there, so that the app is in one node's memory; others are distributed in turn. A
 * request that found no connection goes to the next node; one that was sent is never repeated.
 */
export class Balancer {
  readonly #targets = new Map<string, Target>()
  readonly #server = createServer((incoming, answer) =>
    this.#forward(incoming, answer, this.#choose(incoming.url ?? '')),
  )
  readonly #tunnels = new Set<Socket>()
  #turn = 0
  #looking: NodeJS.Timeout | undefined

  constructor() {
    this.#server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#tunnel(incoming, socket, head, this.#choose(incoming.url ?? ''))
    })
  }

  /** Resolves with the URL, on the loopback interface. */
  async listen(port: number): Promise<string> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#looking = setInterval(() => this.#look(), checkMs)
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /**
   * Sets the URL of the node `name`. Apps are assigned to names: a node that returns with another URL gets its apps
   * again.
   */
  add(name: string, url: string): void {
    this.remove(name)
    const { hostname: host, port } = new URL(url)
    this.#targets.set(name, { name, host, port: Number(port), agent: new Agent({ keepAlive: true }), isReady: true })
  }

  remove(name: string): void {
    this.#targets.get(name)?.agent.destroy()
    this.#targets.delete(name)
  }

  async close(): Promise<void> {
    clearInterval(this.#looking)
    for (const name of [...this.#targets.keys()]) this.remove(name)
    for (const socket of this.#tunnels) socket.destroy()
    this.#server.closeAllConnections()
    if (this.#server.listening) await new Promise(resolve => this.#server.close(resolve))
  }

  /** The nodes in the order in which a request tries them: ready ones first. */
  #choose(url: string): Target[] {
    const app = /^\/api\/apps\/([^/?]+)/.exec(url)?.[1]
    const all = [...this.#targets.values()]
    const turn = this.#turn++ % Math.max(all.length, 1)
    // Rendezvous hashing: when a node goes, only its apps move, spread over all others.
    const ordered =
      app === undefined
        ? [...all.slice(turn), ...all.slice(0, turn)]
        : all
            .map(target => ({ target, weight: weigh(app, target.name) }))
            .toSorted(byWeight)
            .map(({ target }) => target)
    return [...ordered.filter(({ isReady }) => isReady), ...ordered.filter(({ isReady }) => !isReady)]
  }

  #forward(incoming: IncomingMessage, answer: ServerResponse, [target, ...others]: Target[]): void {
    if (target === undefined) return refuse(answer)
    const { host, port, agent } = target
    const headers = { ...passOn(incoming.headers), 'x-forwarded-for': addressOf(incoming), 'x-forwarded-proto': 'http' }
    const outgoing = request({ host, port, agent, method: incoming.method, path: incoming.url, headers })
    let isSent = false
    const send = () => {
      isSent = true
      pipeline(incoming, outgoing, () => {})
    }
    outgoing.on('socket', socket => {
      if (socket.connecting) socket.once('connect', send)
      else send()
    })
    outgoing.on('response', reply => {
      answer.writeHead(reply.statusCode ?? 502, passOn(reply.headers))
      pipeline(reply, answer, () => {})
    })
    outgoing.on('error', () => {
      if (!isSent) {
        target.isReady = false
        this.#forward(incoming, answer, others)
      } else if (answer.headersSent) answer.destroy()
      else refuse(answer)
    })
    answer.on('close', () => {
      if (!answer.writableFinished) outgoing.destroy()
    })
  }

  #tunnel(incoming: IncomingMessage, near: Socket, head: Buffer, [target, ...others]: Target[]): void {
    if (target === undefined) return void near.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n')
    const far = connect(target.port, target.host)
    far.once('error', () => this.#tunnel(incoming, near, head, others))
    far.once('connect', () => {
      far.removeAllListeners('error')
      const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`]
      for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
        lines.push(`${incoming.rawHeaders[i]}: ${incoming.rawHeaders[i + 1]}`)
      }
      far.write(`${lines.join('\r\n')}\r\nX-Forwarded-For: ${addressOf(incoming)}\r\n\r\n`)
      far.write(head)
      for (const socket of [near, far]) {
        this.#tunnels.add(socket)
        socket.setNoDelay(true)
        socket.once('close', () => this.#tunnels.delete(socket))
      }
      pipeline(near, far, near, () => {})
    })
  }

  #look(): void {
    for (const target of this.#targets.values()) {
      const { host, port } = target
      const asked = request({ host, port, path: '/ready', timeout: checkMs }, reply => {
        target.isReady = reply.statusCode === 200
        reply.resume()
      })
      asked.on('timeout', () => asked.destroy())
      asked.on('error', () => (target.isReady = false))
      asked.end()
    }
  }
}

const byWeight = (a: { weight: string }, b: { weight: string }) => (a.weight < b.weight ? 1 : -1)

function weigh(app: string, node: string): string {
  return createHash('sha1').update(`${app} ${node}`).digest('hex')
}

function passOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)))
}

function addressOf({ headers, socket }: IncomingMessage): string {
  const before = headers['x-forwarded-for']
  return [...(before === undefined ? [] : [before].flat()), socket.remoteAddress ?? ''].join(', ')
}

function refuse(answer: ServerResponse): void {
  answer.writeHead(502, { 'Content-Type': 'text/plain' }).end('No node could be reached.\n')
}
