import { once } from 'node:events'
import { createServer } from 'node:net'

/** One that nobody listens on, below those that Linux gives to whoever connects: it must still be free after a restart. */
export async function findPort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 20_000)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return port
  } catch {
    return findPort()
  } finally {
    server.close()
  }
}
