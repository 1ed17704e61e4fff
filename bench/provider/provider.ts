import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { forkApart } from '../apart.ts'

/** What the process says: once where it listens, then of each request when it arrived and how many are open. */
export type FromProvider = { port: number } | { arrivedMs: number; open: number }

/** Whether requests are held open from now on; those that are held are answered where not. */
export interface ToProvider {
  holds: boolean
}

const deadlineMs = 60_000

/** A provider of models in a process of its own, in the chat form of OpenAI: it answers at once, or keeps talking. */
export class SlowProvider {
  readonly url: string
  readonly #child: ChildProcess
  /** Requests that are open, as far as it has told. */
  #open = 0
  #waiting: { isMet: (open: number) => boolean; resolve: (arrivedMs: number) => void }[] = []

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.url = `http://127.0.0.1:${port}`
    child.on('message', (message: FromProvider) => {
      if (!('arrivedMs' in message)) return
      this.#open = message.open
      this.#waiting = this.#waiting.filter(({ isMet, resolve }) => !isMet(message.open) || resolve(message.arrivedMs))
    })
  }

  static async start(): Promise<SlowProvider> {
    const child = forkApart(join(import.meta.dirname, 'process.ts'))
    const port = await new Promise<number>((resolve, reject) => {
      child.once('message', (message: FromProvider) => 'port' in message && resolve(message.port))
      child.once('exit', code => reject(new Error(`The provider ended with ${code}`)))
    })
    return new SlowProvider(child, port)
  }

  /** When the next request arrives, by the clock of `process.hrtime`. */
  next(): Promise<number> {
    return this.#until(() => true)
  }

  /** Resolves when so many requests are open. */
  async opened(count: number): Promise<void> {
    if (this.#open < count) await this.#until(open => open >= count)
  }

  hold(holds: boolean): void {
    if (!holds) this.#open = 0
    this.#child.send({ holds } satisfies ToProvider)
  }

  stop(): void {
    this.#child.kill()
  }

  #until(isMet: (open: number) => boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The provider has ${this.#open} requests open`)), deadlineMs)
      this.#waiting.push({
        isMet,
        resolve(arrivedMs) {
          clearTimeout(timer)
          resolve(arrivedMs)
        },
      })
    })
  }
}
