import { addressed } from './http-connection.ts'
import type { Origin } from './socket.ts'

/** Stands for the number of a request, which no other has, in what is to be unique. Always of one length. */
export const numberHole = '{number__}'

const idHole = '{id}'

/** Gives requests in turn, with what they leave open filled in. */
export class Requests {
  readonly #ids: number[]
  readonly #next: () => number
  readonly #prepared: (Buffer | string)[]
  #turn = 0
  #round = 0
  #number = 0

  /** `{id}` in a text stands for the next of `ids` in each round, `numberHole` for what `next` gives once a round. */
  constructor(texts: string[], { origin, ids, next }: { origin: Origin; ids: number[]; next: () => number }) {
    this.#ids = ids
    this.#next = next
    this.#prepared = texts.map(text => {
      const whole = addressed(text, origin)
      return whole.includes(idHole) || whole.includes(numberHole) ? whole : Buffer.from(whole)
    })
  }

  take(): Buffer | string {
    const request = this.#prepared[this.#turn]!
    if (this.#turn === 0) this.#number = this.#next()
    const taken = typeof request === 'string' ? this.#fill(request) : request
    this.#turn = (this.#turn + 1) % this.#prepared.length
    if (this.#turn === 0) this.#round++
    return taken
  }

  #fill(text: string): string {
    const number = String(this.#number).padStart(numberHole.length, '0')
    return text.replace(idHole, String(this.#ids[this.#round % this.#ids.length])).replaceAll(numberHole, number)
  }
}
