import { ParleyError } from '../http/error.ts'

/**
 * What becomes of an own write:
 *
 *   sending → sent (answered) → settled (its event is applied: the write is no more)
 *   sending → failed → sending (`retry`), or given up (`discard`)
 */
export type WriteState = 'sending' | 'sent' | 'failed'

/** What a write asks for, as it can be kept. */
export interface WriteRequest {
  /** Names it for life: its Idempotency-Key, and the key of a row that it makes. */
  readonly key: string
  readonly action: 'create' | 'edit' | 'trash' | 'delete' | 'react' | 'vote'
  /** The item that it changes. */
  readonly id?: number
  readonly body?: Readonly<Record<string, unknown>>
  /** When it was made; shown until the server says a time. */
  readonly at: string
  /** The highest id that was known then. */
  readonly since?: number
}

export interface Write extends WriteRequest {
  state: WriteState
  /** Why it failed, or is not sent yet. */
  error?: ParleyError | undefined
  /** From the answer: the item that it made, and its place in the history. */
  made?: number | undefined
  /** True where the server may have got it. */
  isTried?: boolean
  /** Before the answer: the item that it may have made. */
  twin?: number | undefined
  rev?: number | undefined
}

/** Own writes that are not settled, oldest first. */
export class Writes {
  #writes: Write[] = []

  list(): readonly Write[] {
    return this.#writes
  }

  /** The writes about one item. */
  of(id: number): readonly Write[] {
    return this.#writes.filter(write => write.id === id)
  }

  add(request: WriteRequest): Write {
    const write: Write = { ...request, state: 'sending' }
    this.#writes = [...this.#writes, write]
    return write
  }

  /** Takes over one of an earlier life. */
  restore(write: Write): void {
    if (!this.#writes.some(({ key }) => key === write.key)) this.#writes = [...this.#writes, { ...write }]
  }

  has(write: Write): boolean {
    return this.#writes.includes(write)
  }

  drop(write: Write): void {
    this.#writes = this.#writes.filter(one => one !== write)
  }

  /** The write that an event is of, by the key of the event. */
  find(key: string | undefined): Write | undefined {
    return key === undefined ? undefined : this.#writes.find(write => write.key === key)
  }

  /** Drops each answered write of which everything up to its rev is known, and returns them. */
  settle(knownOf: (write: Write) => number): Write[] {
    const settled = this.#writes.filter(write => write.state === 'sent' && knownOf(write) >= (write.rev ?? 0))
    if (settled.length > 0) this.#writes = this.#writes.filter(write => !settled.includes(write))
    return settled
  }
}
