import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { findFreePort } from '../lib/process/free-port.ts'

const conf = join(import.meta.dirname, '../../redis.conf')

/** Starts an installed Redis or Valkey on a free port, for as long as this process; null where none is installed. */
export async function startLocalRedis(): Promise<{ url: string; stop(): Promise<void> } | null> {
  const program = ['redis-server', 'valkey-server'].find(name => spawnSync(name, ['--version']).status === 0)
  if (program === undefined) return null
  const port = await findFreePort()
  // A process group of its own, so that Ctrl-C reaches the launcher alone, which ends the nodes first.
  const child = spawn(program, [conf, '--port', `${port}`], { stdio: 'ignore', detached: true })
  return { url: `redis://127.0.0.1:${port}`, stop: () => endChild(child) }
}

/** Ends a child process; resolves when it has ended. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
