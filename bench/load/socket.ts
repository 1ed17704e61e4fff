import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'

/** Where a server is reached. */
export interface Origin {
  host: string
  port: number
  isSecure: boolean
}

/** One for all sockets: what was read is used up before the next socket is read. */
const shared = Buffer.allocUnsafe(64 * 1024)

/** A TCP or TLS connection that hands over what it reads. `hear` must be done with the bytes when it returns. */
export function openSocket(
  { host, port, isSecure }: Origin,
  hear: (bytes: Buffer) => void,
  lost: (error: Error | null) => void,
): Socket {
  const callback = (count: number, buffer: Uint8Array) => {
    hear(buffer === shared && count === shared.length ? shared : (buffer as Buffer).subarray(0, count))
    return true
  }
  // Without TLS, nothing is copied: node:tls does not know `onread`.
  const socket = isSecure
    ? connectSecurely({ host, port, servername: host }).on('data', hear)
    : connect({ host, port, noDelay: true, onread: { buffer: shared, callback } })
  socket.setNoDelay(true)
  socket.once('error', lost)
  socket.once('close', () => lost(null))
  return socket
}

/** What a request to this server says in its header `Host`. */
export function hostOf({ host, port, isSecure }: Origin): string {
  const name = host.includes(':') ? `[${host}]` : host
  return port === (isSecure ? 443 : 80) ? name : `${name}:${port}`
}
