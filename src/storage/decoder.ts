import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Image, Rendition } from './image.ts'

/** What the process is asked for of the picture whose bytes are at `path`. */
export interface Order {
  path: string
  wish: 'head' | Rendition
  /** Taking more of a processor ends the process. */
  processorMs: number
}

/** A picture that does not even take its processor time is given up as well. Far more than a busy machine needs. */
const wallMs = 300_000

/** The process ends when nothing was asked of it for as long: it holds some 60 MB. A guess. */
const idleSeconds = 60

const program = fileURLToPath(new URL('./decoder-process.ts', import.meta.url))

/**
 * Reads and decodes pictures in a process of its own, one at a time. What does so is not written for people who mean harm:
 * a picture may keep it busy for hours, in a thread that nothing can stop, or bring it down. Then only this process ends.
 */
export class Decoder {
  readonly #processorMs: number
  #process: ChildProcess | null = null
  #idle: NodeJS.Timeout | undefined

  /** Of a processor, not on the clock: a picture is given up for what it takes, not for what else the machine does. */
  constructor(processorMs: number) {
    this.#processorMs = processorMs
  }

  /**
   * The rendition as WebP; null where the picture cannot be decoded. Rejects where no process could be started, which says
   * nothing of the picture. Not to be called again before it has answered.
   */
  make(path: string, rendition: Rendition): Promise<Uint8Array | null> {
    return this.#ask(path, rendition) as Promise<Uint8Array | null>
  }

  /** What kind of picture it is, and how large, as its head says; null for anything else. Otherwise as `make`. */
  inspect(path: string): Promise<Image | null> {
    return this.#ask(path, 'head') as Promise<Image | null>
  }

  /** Whoever waits for a picture is told that there is none. */
  stop(): void {
    clearTimeout(this.#idle)
    this.#process?.kill('SIGKILL')
    this.#process = null
  }

  async #ask(path: string, wish: Order['wish']): Promise<unknown> {
    clearTimeout(this.#idle)
    const child = this.#process ?? (await this.#start())
    const answered = new AbortController()
    const { signal } = answered
    const overdue = setTimeout(() => child.kill('SIGKILL'), wallMs)
    try {
      const outcomes = [once(child, 'message', { signal }), once(child, 'exit', { signal }).then(() => [null])]
      const order: Order = { path, wish, processorMs: this.#processorMs }
      // Where this fails, the process has ended, and says so.
      child.send(order, () => {})
      const [answer] = await Promise.race(outcomes)
      return answer
    } finally {
      answered.abort()
      clearTimeout(overdue)
      this.#idle = setTimeout(() => this.stop(), idleSeconds * 1000).unref()
    }
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(program, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      // Nothing that is secret; and what it says of pictures is nothing that anybody asked.
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
