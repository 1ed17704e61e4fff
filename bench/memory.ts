import { setTimeout as delay } from 'node:timers/promises'
import type { Processes } from './server.ts'
import { readRssBytes } from './usage.ts'

/** A server of ours, which collects garbage when it is asked to: see `collect-on-signal.ts`. */
interface Collected {
  processes: Processes
  signal(name: NodeJS.Signals): void
}

/** Resident memory of the server, with garbage collected until it makes no difference any more. */
export async function settledBytes(server: Collected, isTrial: boolean): Promise<number> {
  let least = Infinity
  for (let round = 0; round < (isTrial ? 1 : 10); round++) {
    server.signal('SIGUSR2')
    await delay(500)
    const bytes = readRssBytes(server.processes.servers[0]!)
    if (bytes > least * 0.995) return Math.min(least, bytes)
    least = bytes
  }
  return least
}
