import PQueue from 'p-queue'
import { once } from 'node:events'
import { parentPort, Worker } from 'node:worker_threads'
import type { Log } from '../log.ts'

export interface ThreadOptions {
  /** The script of the thread; it calls `takeTasks`. */
  file: URL
  /**
   * The processor time that one task may take from when the script has loaded, so that neither waiting for a processor
   * nor loading counts. A busy machine can make it several times what it is on an idle one: processors share caches
   * and arithmetic units. Leave room for that.
   */
  taskMs: number
  /** The most tasks that may wait; further ones are refused. */
  waitingLimit: number
  /** The memory limit of the thread. */
  memoryMb: number
  log: Log
}

/**
 * `failed`: the task threw, or took too much time or memory, and would do so again. `turned away`: the queue was full;
 * it may be tried again.
 */
export type Outcome<Result> = { state: 'done'; result: Result } | { state: 'failed' } | { state: 'turned away' }

/** Loading its modules takes a thread 100 ms, and longer on a busy machine. */
const startMs = 30_000

/** How often the processor time of a task is checked. */
const watchMs = 50

/**
 * Runs long tasks on a worker thread, one after the other, so that only their callers wait for them. The thread starts
 * with the first task, and is replaced when one fails. It does not keep the process running; `close` ends it, and
 * abandons the current task.
 */
export class Thread<Task, Result> {
  readonly #options: ThreadOptions
  readonly #queue = new PQueue({ concurrency: 1 })
  #worker: Worker | null = null

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Runs a task, of which the thread gets a copy. Never rejects. */
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
    // The caller learns of the error from its own listener; an `error` event without any would end the process.
    worker.on('error', () => {})
    worker.on('exit', () => (this.#worker = null))
    await once(worker, 'message', { signal: AbortSignal.timeout(startMs) })
    return worker
  }
}

async function ask<Task, Result>(worker: Worker, task: Task, taskMs: number): Promise<Result> {
  const over = new AbortController()
  const before = await worker.cpuUsage()
  const checkTime = async () => {
    const { user, system } = await worker.cpuUsage(before)
    if ((user + system) / 1000 > taskMs) over.abort(new Error(`The task took more than ${taskMs} ms`))
  }
  const watch = setInterval(() => void checkTime().catch((error: unknown) => over.abort(error)), watchMs)
  try {
    const answer = once(worker, 'message', { signal: over.signal })
    worker.postMessage(task)
    return ((await answer) as [Result])[0]
  } finally {
    clearInterval(watch)
  }
}

/**
 * Handles each task by `work`, on the thread that calls this, and reports that it is ready. What the script does before,
 * such as a first piece of work that fills caches, counts for no task.
 */
export function takeTasks<Task, Result>(work: (task: Task) => Result | Promise<Result>): void {
  // A rejection ends the thread, as an exception does.
  parentPort!.on('message', async (task: Task) => parentPort!.postMessage(await work(task)))
  parentPort!.postMessage('ready')
}
