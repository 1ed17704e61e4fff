import { execFileSync } from 'node:child_process'

// Closed loops measure how much a server does with what is left of the machine. When an answer wakes whoever makes the
// load, Linux may take the processor for it from whoever is writing the next answer: 4,000 times a second with 64
// connections, which cost the server a tenth of its sends. Under SCHED_BATCH it does not, as if load came from elsewhere.
// Latencies at a fixed rate are measured without it: listeners elsewhere would read at once.

/** How to start a program so that it yields to the server. */
export function yielding(program: string, args: readonly string[]): [program: string, args: string[]] {
  return canYield ? ['chrt', ['--batch', '0', program, ...args]] : [program, [...args]]
}

/** Lets a process yield to the server from now on, or no longer. */
export function setYielding(pid: number, isYielding: boolean): void {
  if (canYield) execFileSync('chrt', [isYielding ? '--batch' : '--other', '--all-tasks', '--pid', '0', String(pid)])
}

/** False where there is no `chrt`: on other systems than Linux. */
export const canYield = ((): boolean => {
  try {
    execFileSync('chrt', ['--batch', '0', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
