import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Owner } from './owner.ts'

/** Starts a program of PostgreSQL as its owner, in a process group of its own, so that Ctrl-C reaches Parley alone. */
export function launch(program: string, args: string[], owner: Owner | null, output: number | 'pipe'): ChildProcess {
  return spawn(program, args, {
    detached: true,
    stdio: ['ignore', output, output],
    cwd: '/',
    // None of this process's environment: PG… variables and locales would change what the programs do.
    env: { LC_ALL: 'C', TZ: 'UTC' },
    ...owner,
  })
}

/** Runs a program of PostgreSQL to its end. Rejects with its output if it fails. */
export async function runToEnd(program: string, args: string[], owner: Owner | null): Promise<void> {
  const child = launch(program, args, owner, 'pipe')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${program} failed (${code}): ${output.trim()}`)
}
