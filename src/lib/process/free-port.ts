import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** Finds a TCP port of the loopback interface on which no process listens. Another process may take it at any time. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}
