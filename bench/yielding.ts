import { execFileSync } from 'node:child_process'

/**
 * How to start a program so that it makes load as another machine would: when an answer wakes it, Linux does not take the
 * processor for it from whoever is writing the next answer (SCHED_BATCH). Otherwise it cuts into the server 4,000 times
 * a second, which costs the server a tenth of its sends. The baselines are given the same.
 */
export function yielding(program: string, args: readonly string[]): [program: string, args: string[]] {
  return canYield ? ['chrt', ['--batch', '0', program, ...args]] : [program, [...args]]
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
