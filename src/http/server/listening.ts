import { createServer } from 'node:net'
import type { TemplatedApp, us_listen_socket, us_socket } from 'uWebSockets.js'
import { StartFault } from '../../lib/errors.ts'

type Uws = typeof import('uWebSockets.js')

/** Creates an app for HTTP, or for HTTPS with a certificate. StartFault where the certificate cannot be used. */
export function createApp(uws: Uws, tls: { certFile: string; keyFile: string } | null): TemplatedApp {
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

/** Resolves when the port is open; null for `host` opens it on all addresses. Rejects with a StartFault. */
export async function openPort(app: TemplatedApp, port: number, host: string | null): Promise<us_listen_socket> {
  const socket = await new Promise<us_listen_socket | false>(resolve => {
    if (host === null) app.listen(port, exclusive, resolve)
    else (app.listen as unknown as ListenOnHost).call(app, host, port, exclusive, resolve)
  })
  if (socket === false) throw new StartFault(await explain(port, host))
  return socket
}

/** The number of an open port, where the system chose it. */
export function portOf(uws: Uws, socket: us_listen_socket): number {
  // The types distinguish listening sockets; the function accepts both.
  return uws.us_socket_local_port(socket as unknown as us_socket)
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
