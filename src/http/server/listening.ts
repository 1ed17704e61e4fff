import { createServer } from 'node:net'
import type { TemplatedApp, us_listen_socket, us_socket } from 'uWebSockets.js'
import { StartFault } from '../../lib/errors.ts'

type Uws = typeof import('uWebSockets.js')
type Tls = { certFile: string; keyFile: string }

/** Creates an app for HTTP, or for HTTPS with a certificate. StartFault where the certificate cannot be used. */
export function createApp(uws: Uws, tls: Tls | null): TemplatedApp {
  if (tls === null) return uws.App()
  try {
    return uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
  } catch (cause) {
    // uWebSockets.js does not report what is wrong with them.
    const files = `${tls.certFile} and ${tls.keyFile}`
    throw new StartFault(`${files} cannot be used for HTTPS: both must be readable PEM files, and belong together.`, {
      cause,
    })
  }
}

/**
 * LIBUS_LISTEN_EXCLUSIVE_PORT. By default uWebSockets.js shares a port with other programs that do: two nodes on one
 * port by mistake would each get some of the requests.
 */
const exclusive = 1

/** The package's types lack the overload with a host and options. */
type ListenOnHost = (host: string, port: number, options: number, opened: Opened) => void
type Opened = (socket: us_listen_socket | false) => void

/** The package's types lack how an app hands its connections to others. */
interface Acceptor extends TemplatedApp {
  addChildAppDescriptor(descriptor: unknown): void
  removeChildAppDescriptor(descriptor: unknown): void
}
type Receiver = TemplatedApp & { getDescriptor(): unknown }

/**
 * An open port. Its connections go to one app at a time, so that another one can take its place while clients come: a port
 * that was closed cannot be opened again before its last connection has gone.
 */
export class Port {
  readonly number: number
  readonly #uws: Uws
  readonly #acceptor: Acceptor
  readonly #socket: us_listen_socket
  #receiver: Receiver | null = null

  private constructor(uws: Uws, acceptor: Acceptor, socket: us_listen_socket) {
    this.#uws = uws
    this.#acceptor = acceptor
    this.#socket = socket
    // The types distinguish listening sockets; the function accepts both.
    this.number = uws.us_socket_local_port(socket as unknown as us_socket)
  }

  /** Resolves when it is open; null for `host` opens it on all addresses. Rejects with a StartFault. */
  static async open(uws: Uws, tls: Tls | null, port: number, host: string | null): Promise<Port> {
    const acceptor = createApp(uws, tls) as Acceptor
    return new Port(uws, acceptor, await openSocket(acceptor, port, host))
  }

  /** Sends all further connections to an app of the same kind, with or without a certificate. */
  leadTo(app: TemplatedApp): void {
    const before = this.#receiver
    this.#receiver = app as Receiver
    this.#acceptor.addChildAppDescriptor(this.#receiver.getDescriptor())
    if (before !== null) this.#acceptor.removeChildAppDescriptor(before.getDescriptor())
  }

  close(): void {
    this.#uws.us_listen_socket_close(this.#socket)
    this.#acceptor.close()
  }
}

async function openSocket(app: TemplatedApp, port: number, host: string | null): Promise<us_listen_socket> {
  const socket = await new Promise<us_listen_socket | false>(resolve => {
    if (host === null) app.listen(port, exclusive, resolve)
    else (app.listen as unknown as ListenOnHost).call(app, host, port, exclusive, resolve)
  })
  if (socket === false) throw new StartFault(await explain(port, host))
  return socket
}

/** uWebSockets.js reports only that it failed, so Node tries the port, and reports why. */
async function explain(port: number, host: string | null): Promise<string> {
  const server = createServer()
  const code = await new Promise<string>(resolve => {
    server.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host: host ?? '::', exclusive: true }, () => resolve('unknown'))
  })
  server.close()
  const where = host === null ? `Port ${port}` : `Port ${port} on ${host}`
  switch (code) {
    case 'EADDRINUSE':
      return `${where} is taken by another program. Stop that program, or choose another port with PORT.`
    case 'EACCES':
      return `${where} may not be opened by this user. Choose a port above 1023 with PORT.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Choose one with HOST, or leave it out for all addresses.`
    default:
      return `${where} cannot be opened (${code}). Choose another one with PORT.`
  }
}
