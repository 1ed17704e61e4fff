import PQueue from 'p-queue'
import { once } from 'node:events'
import { parentPort, Worker } from 'node:worker_threads'
import type { Log } from '../log.ts'

export interface ThreadOptions {
  /** The file that the thread runs. It calls `takeTasks`. */
  file: URL
  /** Processor time that one task may take: whatever else the machine does, a task ends the same way. */
  taskMs: number
  /** Tasks that may wait; more are turned away. */
  waitingLimit: number
  /** What the thread may hold in memory. */
  memoryMb: number
  log: Log
}

/** A task that failed threw, or took too long or too much memory: it would again. One that was turned away may not be. */
export type Outcome<Result> = { state: 'done'; result: Result } | { state: 'failed' } | { state: 'turned away' }

/** Reading its modules takes a thread 100 ms, and longer where much else is done. */
const startMs = 30_000

/** How often is looked how much time a task has taken. */
const watchMs = 50

/**
 * Does tasks that may take long, one after the other, on a thread of their own, so that nobody waits for them but who
 * asked. The thread starts with the first task, and is replaced when one fails. It does not keep the process running;
 * `close` ends it, and what it was at is lost.
 */
export class Thread<Task, Result> {
  readonly #options: ThreadOptions
  readonly #queue = new PQueue({ concurrency: 1 })
  #worker: Worker | null = null

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Hands over a copy of the task. Never rejects. */
  async run(task: Task): Promise<Outcome<Result>> {
    if (this.#queue.size >= this.#options.waitingLimit) return { state: 'turned away' }
    return this.#queue.add(() => this.#do(task))
  }

  async close(): Promise<void> {
    this.#queue.clear()
    await this.#worker?.terminate()
  }

  async #do(task: Task): Promise<Outcome<Result>> {
    let isBegun = false
    try {
      const worker = this.#worker ?? (await this.#start())
      isBegun = true
      return { state: 'done', result: await ask(worker, task, this.#options.taskMs) }
    } catch (error) {
      this.#options.log.warn({ error }, 'A thread failed in its task and is replaced')
      await this.#worker?.terminate()
      return { state: isBegun ? 'failed' : 'turned away' }
    }
  }

  async #start(): Promise<Worker> {
    const { file, memoryMb } = this.#options
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
    this.#worker = worker
    worker.unref()
    // Whoever waits for a task hears of it; with no listener it would end the process.
    worker.on('error', () => {})
    worker.on('exit', () => (this.#worker = null))
    await once(worker, 'message', { signal: AbortSignal.timeout(startMs) })
    return worker
  }
}

async function ask<Task, Result>(worker: Worker, task: Task, taskMs: number): Promise<Result> {
  const over = new AbortController()
  const before = await worker.cpuUsage()
  const look = async () => {
    const { user, system } = await worker.cpuUsage(before)
    if ((user + system) / 1000 > taskMs) over.abort(new Error(`The task took more than ${taskMs} ms`))
  }
  const watch = setInterval(() => void look().catch((error: unknown) => over.abort(error)), watchMs)
  try {
    const answer = once(worker, 'message', { signal: over.signal })
    worker.postMessage(task)
    return ((await answer) as [Result])[0]
  } finally {
    clearInterval(watch)
  }
}

/** Makes the thread that this is called in do each task by `work`, and tells that it is ready. */
export function takeTasks<Task, Result>(work: (task: Task) => Result | Promise<Result>): void {
  // Where it rejects, the thread ends, as where it throws.
  parentPort!.on('message', async (task: Task) => parentPort!.postMessage(await work(task)))
  parentPort!.postMessage('ready')
}
