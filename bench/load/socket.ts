import { connect, type Socket } from 'node:net'

/** One for all sockets: what was read is used up before the next socket is read. */
const shared = Buffer.allocUnsafe(64 * 1024)

/**
 * A TCP connection to this machine that hands over what it reads without copying it. `hear` must be done with the
 * bytes when it returns.
 */
export function openSocket(port: number, hear: (bytes: Buffer) => void, lost: (error: Error | null) => void): Socket {
  const callback = (count: number, buffer: Uint8Array) => {
    hear(buffer === shared && count === shared.length ? shared : (buffer as Buffer).subarray(0, count))
    return true
  }
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, onread: { buffer: shared, callback } })
  socket.once('error', lost)
  socket.once('close', () => lost(null))
  return socket
}
