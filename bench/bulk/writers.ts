import { setTimeout as delay } from 'node:timers/promises'
import { summarise, type Latencies } from '../latencies.ts'
import { repeat } from '../load/pace.ts'
import { Requests } from '../load/requests.ts'
import { Senders } from '../load/senders.ts'
import type { Server } from '../server.ts'
import { toCompany } from '../traffic.ts'
import type { Room } from '../world.ts'

/** Messages a second: what a company of some hundred people writes at its busiest. */
const perSecond = 100

/** What is over in an instant may hold up what comes after it. */
const afterMs = 1_000

/**
 * People who write all the time, at fixed instants, whether or not the server keeps up: a message that had to wait to be
 * sent has waited as well. A refused message is an error.
 */
export class Writers {
  readonly #senders: Senders
  readonly #failed: Promise<never>
  readonly #over: Promise<void>
  #latencies: number[] = []
  #isOver = false

  constructor({ origins: [origin] }: Server, rooms: Room[]) {
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    this.#failed = promise
    this.#senders = new Senders(origin!, reject)
    const sources = toCompany(rooms).map(texts => new Requests(texts, { origin: origin!, ids: [], next: () => 0 }))
    let turn = 0
    const send = (wantedAt: number) => {
      if (this.#isOver) return
      this.#senders.send(sources[turn++ % sources.length]!.take(), status => {
        this.#latencies.push(performance.now() - wantedAt)
        if (status > 299) reject(new Error(`A message was answered with ${status}`))
      })
    }
    this.#over = this.#write(send)
  }

  /** Does something, and says how long the messages waited that were sent meanwhile, and for a second after it. */
  async during(run: () => Promise<void>): Promise<Latencies> {
    this.#latencies = []
    await Promise.race([run(), this.#failed])
    await Promise.race([delay(afterMs), this.#failed])
    // What was sent meanwhile is to be answered as well.
    const open = this.#senders.open
    const answered = this.#latencies.length + open
    while (this.#latencies.length < answered) await Promise.race([delay(5), this.#failed])
    return summarise(this.#latencies)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#over
    this.#senders.close()
  }

  async #write(send: (wantedAt: number) => void): Promise<void> {
    while (!this.#isOver) await repeat(send, perSecond, 1)
  }
}
