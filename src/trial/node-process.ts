import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartFault } from '../lib/errors.ts'
import { endChild } from './redis.ts'

const main = join(import.meta.dirname, '../main.ts')

/** The pause before a failed node is restarted: one that cannot start must not keep the machine busy. */
const restartPauseMs = 1_000

interface NodeProcessOptions {
  name: string
  environment: NodeJS.ProcessEnv
  /** Called with its URL whenever it listens. */
  onReady: (url: string) => void
  /** Called when it has ended unexpectedly; it is restarted. */
  onLost: (outcome: string) => void
}

/**
 * A node in a child process, restarted when it ends, so that `kill -9` can be tried. Its log lines go to this process's
 * standard error, prefixed with its name. Ended by `stop`.
 */
export class NodeProcess {
  readonly #options: NodeProcessOptions
  #child: ChildProcess | null = null
  #isStopping = false

  constructor(options: NodeProcessOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Resolves when the node listens. Rejects with a StartFault where it ends before. */
  async start(): Promise<void> {
    const { name, environment, onReady, onLost } = this.#options
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    this.#child = child
    const ready = Promise.withResolvers<string>()
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const url = /listens on (\S+)/.exec(output)?.[1]
      if (url !== undefined) ready.resolve(url)
    })
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4_000)
      process.stderr.write(chunk.toString().replace(/^(?=.)/gm, `${name}: `))
    })
    let isReady = false
    child.once('exit', (code, signal) => {
      ready.reject(new StartFault(`${name} has ended: ${errors.trim() || (signal ?? code)}`))
      if (!isReady || this.#isStopping) return
      onLost(String(signal ?? code))
      void this.#restart()
    })
    onReady(await ready.promise)
    isReady = true
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#child !== null) await endChild(this.#child)
  }

  async #restart(): Promise<void> {
    await delay(restartPauseMs)
    // It has logged itself why it could not start.
    if (!this.#isStopping) await this.start().catch(() => this.#restart())
  }
}
