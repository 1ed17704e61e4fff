import { toParleyError, type ParleyError } from '../http/error.ts'
import { closed, type Http, type Method } from '../http/http.ts'
import { toItem, type Item } from './fold.ts'
import type { Write, Writes, WriteState } from './writes.ts'

/** The request that a write is. */
export interface Sendable {
  method: Method
  path: string
  body?: unknown
}

export interface OutboxParts {
  http: Http
  writes: Writes
  toRequest(write: Write): Sendable
  itemOf(id: number): Item | undefined
  /** An attempt has failed, and another one follows. */
  onChange(): void
  /** The server has the write. */
  onAnswer(write: Write): void
  /** The write is answered, or has failed. */
  onEnd(write: Write): void
}

interface Sending {
  promise: Promise<unknown>
  resolve: (item: unknown) => void
  reject: (error: ParleyError) => void
  abort: AbortController
}

/** Sends the writes of a list one after the other, in their order, each until it is answered. */
export class Outbox {
  readonly #parts: OutboxParts
  readonly #sending = new Map<Write, Sending>()
  #isDraining = false

  constructor(parts: OutboxParts) {
    this.#parts = parts
  }

  /** Resolves with the item, if the write has one, when the server has it. Rejects with a ParleyError. */
  promiseOf(write: Write): Promise<unknown> {
    return this.#sendingOf(write).promise
  }

  /** Sends what is not sent, unless that is under way. */
  drain(): void {
    if (!this.#isDraining) void this.#drain()
  }

  abort(write: Write): void {
    this.#sending.get(write)?.abort.abort()
  }

  async #drain(): Promise<void> {
    const { http, writes } = this.#parts
    this.#isDraining = true
    while (!http.isClosed) {
      const write = writes.list().find(({ state }) => state === 'sending')
      if (write === undefined) break
      await this.#send(write)
    }
    this.#isDraining = false
    if (!http.isClosed) return
    // Another life of the page sends them, where they are kept.
    for (const { reject } of this.#sending.values()) reject(closed())
    this.#sending.clear()
  }

  async #send(write: Write): Promise<void> {
    const { http, toRequest, itemOf, onChange, onAnswer, onEnd } = this.#parts
    const { abort, resolve, reject } = this.#sendingOf(write)
    write.isTried = true
    try {
      const { method, path, body } = toRequest(write)
      const answer = await http.send<Item | undefined>(method, path, {
        body,
        key: method === 'POST' ? write.key : undefined,
        signal: abort.signal,
        attempts: Infinity,
        onRetry(error) {
          write.error = error
          onChange()
        },
      })
      write.state = 'sent'
      write.error = undefined
      write.rev = answer.rev
      if (write.action === 'create') write.made = answer.body?.id
      resolve(answer.body && toItem(answer.body))
      onAnswer(write)
    } catch (error) {
      if (http.isClosed) return
      // Its event came, and the answer did not: it is done.
      const isDone = (write.state as WriteState) === 'sent'
      write.state = isDone ? 'sent' : 'failed'
      write.error = isDone ? undefined : toParleyError(error)
      if (write.error === undefined) resolve(write.made && itemOf(write.made))
      else reject(write.error)
    }
    this.#sending.delete(write)
    onEnd(write)
  }

  #sendingOf(write: Write): Sending {
    const sending = this.#sending.get(write) ?? newSending()
    this.#sending.set(write, sending)
    return sending
  }
}

function newSending(): Sending {
  // Node.js 20 and React Native have no Promise.withResolvers.
  let [resolve, reject]: [Sending['resolve'], Sending['reject']] = [() => {}, () => {}]
  const promise = new Promise<unknown>((onResolve, onReject) => ([resolve, reject] = [onResolve, onReject]))
  // Where it is not awaited, its row shows that it failed.
  promise.catch(() => {})
  return { promise, resolve, reject, abort: new AbortController() }
}
