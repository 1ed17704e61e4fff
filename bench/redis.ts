import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../src/lib/process/free-port.ts'
import { apart } from './apart.ts'

/** With the settings that we ship. */
const conf = join(import.meta.dirname, '../redis.conf')

/** A real Redis on a port of its own, for the nodes that are measured. */
export class RedisProcess {
  readonly url: string
  readonly #child: ChildProcess
  readonly #dir: string

  private constructor(child: ChildProcess, url: string, dir: string) {
    this.#child = child
    this.url = url
    this.#dir = dir
  }

  /** Null where there is no redis-server on this machine. */
  static async start(): Promise<RedisProcess | null> {
    if (spawnSync('redis-server', ['--version']).status !== 0) return null
    const dir = mkdtempSync(join(tmpdir(), 'parley-bench-redis-'))
    const port = await findFreePort()
    const args = [conf, '--port', `${port}`, '--dir', dir, '--logfile', '']
    const child = spawn('redis-server', args, { ...apart, stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise<void>((resolve, reject) => {
      child.stdout!.on('data', (chunk: Buffer) => chunk.includes('Ready to accept') && resolve())
      child.once('exit', code => reject(new Error(`redis-server ended with ${code}`)))
    })
    return new RedisProcess(child, `redis://127.0.0.1:${port}`, dir)
  }

  get pid(): number {
    return this.#child.pid!
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
    rmSync(this.#dir, { recursive: true, force: true })
  }
}
