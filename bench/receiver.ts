import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A receiver of webhooks that takes its time for each. */
export class SlowReceiver {
  /** Deliveries that it has answered. */
  answered = 0
  readonly url: string
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  static async start(answerMs: number): Promise<SlowReceiver> {
    const server = createServer((request, response) => {
      request.resume().once('end', async () => {
        await delay(answerMs)
        response.end()
        receiver.answered++
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const receiver = new SlowReceiver(server)
    return receiver
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
