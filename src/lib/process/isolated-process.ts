import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * The wall-clock limit of an order, for one that takes no processor time either. Far more than a busy machine needs.
 */
const wallMs = 300_000

/** The idle process ends after this time, because it holds some 60 MB. A guess. */
const idleSeconds = 60

/**
 * A program in a child process that handles one order at a time, for untrusted content: it may run for hours in a
 * thread that nothing can stop, or crash. Then only the child ends. It starts with the first order, ends after a minute
 * without one, and restarts when needed. It does not keep its parent running.
 */
export class IsolatedProcess<Order extends object, Answer> {
  readonly #program: string
  #process: ChildProcess | null = null
  #idle: NodeJS.Timeout | undefined

  /** `program` calls `takeOrders`, and ends itself where an order takes too much. */
  constructor(program: URL) {
    this.#program = fileURLToPath(program)
  }

  /**
   * Resolves with the program's answer, or null where the child ended during the order. Rejects where no child could be
   * started, which says nothing about the order. Call it again only after it has settled.
   */
  async ask(order: Order): Promise<Answer | null> {
    clearTimeout(this.#idle)
    const child = this.#process ?? (await this.#start())
    const answered = new AbortController()
    const { signal } = answered
    const overdue = setTimeout(() => child.kill('SIGKILL'), wallMs)
    try {
      const outcomes = [once(child, 'message', { signal }), once(child, 'exit', { signal }).then(() => [null])]
      // If sending fails, the child has ended, and its `exit` event answers the order.
      child.send(order, () => {})
      const [answer] = await Promise.race(outcomes)
      return answer as Answer | null
    } finally {
      answered.abort()
      clearTimeout(overdue)
      this.#idle = setTimeout(() => this.stop(), idleSeconds * 1000).unref()
    }
  }

  /** Ends the child; a running order is answered with null. */
  stop(): void {
    clearTimeout(this.#idle)
    this.#process?.kill('SIGKILL')
    this.#process = null
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(this.#program, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      // The child gets no secrets, and its output is of no use.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    })
    this.#process = child
    const forget = () => {
      if (this.#process === child) this.#process = null
    }
    child.once('exit', forget)
    // A child that could not be started has no channel and emits no `exit`.
    child.on('error', forget)
    await once(child, 'spawn')
    child.unref()
    child.channel?.unref()
    return child
  }
}

/** Handles each order by `work`, in a child process, until the parent ends. */
export function takeOrders<Order, Answer>(work: (order: Order) => Promise<Answer>): void {
  // Without its parent the process has no use.
  process.on('disconnect', endNow)
  process.on('message', (order: Order) => void work(order).then(answer => process.send!(answer)))
}

/** Kills this process, whatever its threads are doing: nothing else stops them. */
export function endNow(): void {
  process.kill(process.pid, 'SIGKILL')
}
