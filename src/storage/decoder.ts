import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Rendition } from './image.ts'

/** What the process is asked to do: `path` holds the bytes of the picture. */
export interface Order {
  path: string
  rendition: Rendition
}

/** What it made, as WebP; null where it could not. */
export type Made = Uint8Array | null

/** A picture that takes longer to decode was made to. */
const decodeMs = 15_000

/** The process ends when nothing was asked of it for as long: it holds some 60 MB. A guess. */
const idleSeconds = 60

const program = fileURLToPath(new URL('./decoder-process.ts', import.meta.url))

/**
 * Decodes pictures in a process of its own, one at a time. What decodes them is not written for people who mean harm: a
 * picture may keep it busy for hours, in a thread that nothing can stop, or bring it down. Then only this process ends.
 */
export class Decoder {
  readonly #decodeMs: number
  #process: ChildProcess | null = null
  #idle: NodeJS.Timeout | undefined

  constructor(limitMs = decodeMs) {
    this.#decodeMs = limitMs
  }

  /** The rendition as WebP; null where the picture cannot be decoded. Not to be called again before it has answered. */
  async make(order: Order): Promise<Made> {
    clearTimeout(this.#idle)
    const child = this.#process ?? this.#start()
    const answered = new AbortController()
    const { signal } = answered
    const overdue = setTimeout(() => child.kill('SIGKILL'), this.#decodeMs)
    try {
      const outcomes = [once(child, 'message', { signal }), once(child, 'exit', { signal }).then(() => [null])]
      // Where this fails, the process has ended, and says so.
      child.send(order, () => {})
      const [made] = (await Promise.race(outcomes)) as [Made]
      return made
    } finally {
      answered.abort()
      clearTimeout(overdue)
      this.#idle = setTimeout(() => this.stop(), idleSeconds * 1000).unref()
    }
  }

  /** Whoever waits for a picture is told that there is none. */
  stop(): void {
    clearTimeout(this.#idle)
    this.#process?.kill('SIGKILL')
    this.#process = null
  }

  #start(): ChildProcess {
    const child = fork(program, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      // Nothing that is secret; and what it says of pictures is nothing that anybody asked.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    })
    child.unref()
    child.channel?.unref()
    child.once('exit', () => {
      if (this.#process === child) this.#process = null
    })
    this.#process = child
    return child
  }
}
