import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { eventually } from './eventually.ts'
import { findPort } from './port.ts'

/** A real Redis with the settings that we ship, on a port of its own. */
export interface RedisServer extends AsyncDisposable {
  url: string
  /** Ends it as a crash would. */
  kill(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** SIGSTOP freezes it, SIGCONT lets it go on. */
  signal(signal: NodeJS.Signals): void
}

/** Why there is no Redis to test with; null where there is one. */
export const redisIsMissing =
  spawnSync('redis-server', ['--version']).status === 0 ? null : 'no redis-server is installed on this machine'

const conf = join(import.meta.dirname, '../../redis.conf')

export async function startRedis(): Promise<RedisServer> {
  const dir = mkdtempSync(join(tmpdir(), 'parley-redis-'))
  const port = await findPort()
  const url = `redis://127.0.0.1:${port}`
  let ended = Promise.resolve()
  let signal: RedisServer['signal'] = () => {}
  const start = async () => {
    const child = spawn('redis-server', [conf, '--port', `${port}`, '--dir', dir], { stdio: 'ignore' })
    ended = new Promise(resolve => child.once('exit', () => resolve()))
    signal = name => void child.kill(name)
    await eventually(() => ping(url))
  }
  await start()
  return {
    url,
    start,
    signal: name => signal(name),
    async kill() {
      signal('SIGKILL')
      await ended
    },
    async [Symbol.asyncDispose]() {
      signal('SIGKILL')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function ping(url: string): Promise<void> {
  const probe = new Redis(url, { lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 })
  probe.on('error', () => {
    // What went wrong is what `connect` rejects with.
  })
  try {
    await probe.connect()
    await probe.ping()
  } finally {
    probe.disconnect()
  }
}
