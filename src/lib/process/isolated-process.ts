import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** An order that does not even take its processor time is given up as well. Far more than a busy machine needs. */
const wallMs = 300_000

/** The process ends when nothing was asked of it for as long: it holds some 60 MB. A guess. */
const idleSeconds = 60

/**
 * A program in a process of its own, which does one order at a time for content that strangers made: such content may keep
 * it busy for hours, in a thread that nothing can stop, or bring it down. Then only this process ends. It starts with the
 * first order, ends after a minute without any, and starts anew after it has ended. It does not keep its parent running.
 */
export class IsolatedProcess<Order extends object, Answer> {
  readonly #program: string
  #process: ChildProcess | null = null
  #idle: NodeJS.Timeout | undefined

  /** The program calls `takeOrders`, and ends itself where an order takes too much. */
  constructor(program: URL) {
    this.#program = fileURLToPath(program)
  }

  /**
   * Null where the process ended in the order. Rejects where no process could be started, which says nothing of the order.
   * Not to be called again before it has answered.
   */
  async ask(order: Order): Promise<Answer | null> {
    clearTimeout(this.#idle)
    const child = this.#process ?? (await this.#start())
    const answered = new AbortController()
    const { signal } = answered
    const overdue = setTimeout(() => child.kill('SIGKILL'), wallMs)
    try {
      const outcomes = [once(child, 'message', { signal }), once(child, 'exit', { signal }).then(() => [null])]
      // Where this fails, the process has ended, and says so.
      child.send(order, () => {})
      const [answer] = await Promise.race(outcomes)
      return answer as Answer | null
    } finally {
      answered.abort()
      clearTimeout(overdue)
      this.#idle = setTimeout(() => this.stop(), idleSeconds * 1000).unref()
    }
  }

  /** An order under way is answered with null. */
  stop(): void {
    clearTimeout(this.#idle)
    this.#process?.kill('SIGKILL')
    this.#process = null
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(this.#program, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      // Nothing that is secret; and what it says of its orders is nothing that anybody asked.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    })
    this.#process = child
    const forget = () => {
      if (this.#process === child) this.#process = null
    }
    child.once('exit', forget)
    // One that could not be started never exits, nor has it a channel.
    child.on('error', forget)
    await once(child, 'spawn')
    child.unref()
    child.channel?.unref()
    return child
  }
}

/** Makes this process do each order by `work`, until its parent ends. */
export function takeOrders<Order, Answer>(work: (order: Order) => Promise<Answer>): void {
  // Nobody needs this process without its parent.
  process.on('disconnect', endNow)
  process.on('message', (order: Order) => void work(order).then(answer => process.send!(answer)))
}

/** Ends this process in the middle of whatever its threads are doing: nothing else stops them. */
export function endNow(): void {
  process.kill(process.pid, 'SIGKILL')
}
