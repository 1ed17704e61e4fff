import { setTimeout as delay } from 'node:timers/promises'
import type { Stage } from './stage.ts'
import { readRssBytes } from './usage.ts'

/** Resident memory of the server, with garbage collected until it makes no difference any more. */
export async function settledBytes({ parley, isTrial }: Pick<Stage, 'parley' | 'isTrial'>): Promise<number> {
  let least = Infinity
  for (let round = 0; round < (isTrial ? 1 : 10); round++) {
    parley.signal('SIGUSR2')
    await delay(500)
    const bytes = readRssBytes(parley.processes.servers[0]!)
    if (bytes > least * 0.995) return Math.min(least, bytes)
    least = bytes
  }
  return least
}
