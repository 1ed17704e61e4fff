import { setTimeout as delay } from 'node:timers/promises'
import type { Parley } from './parley.ts'
import { costSeconds, readUsage, usageBetween, type Usage } from './usage.ts'

/** What waits on a node, by its own account: gauges of /metrics. One that a version does not have says nothing. */
const gauges = ['parley_mailbox_commands', 'parley_background_waiting']

/** How often it is looked: in less, the hundredths of a second in which Linux counts would make up too much. */
const periodMs = 500

/**
 * Server and database use less than this share of a processor when nothing is left to do. Jobs that come round each
 * second took up to 3 % of one before they were looked at.
 */
const quietShare = 0.06

/**
 * For so long they must be quiet: a notification of a message is made five to eight seconds after it, if it is unread
 * then. With the least for trials, in which figures do not count.
 */
const quietSeconds = { usual: 9, trial: 0.5 }

/** Where it never ends. */
const deadlineSeconds = 600

interface Drained {
  /** What was used until the last moment at which something was done. */
  usage: Usage
  /** How long that was. */
  seconds: number
}

/**
 * Waits until nothing is left to do for the servers and their database: all gauges of what waits are zero, and for some
 * seconds the processes have done next to nothing. What these seconds took is not counted.
 */
export async function untilDone(parley: Parley, load: number, isTrial: boolean): Promise<Drained> {
  const quiet = isTrial ? quietSeconds.trial : quietSeconds.usual
  const measured = { ...parley.processes, load }
  const startedAt = performance.now()
  const passed = () => (performance.now() - startedAt) / 1000
  const first = readUsage(measured)
  let last: Drained = { usage: first, seconds: 0 }
  let before = { at: 0, usage: first }
  while (passed() < deadlineSeconds) {
    await delay(periodMs)
    const now = { at: passed(), usage: readUsage(measured) }
    const isQuiet = costSeconds(usageBetween(before.usage, now.usage)) < quietShare * (now.at - before.at)
    before = now
    if (!isQuiet) last = { usage: now.usage, seconds: now.at }
    // Not asked more often: the answer takes a node as long as a message.
    else if (now.at - last.seconds >= quiet && (await countWaiting(parley)) === 0) return last
  }
  throw new Error(`Server and database were not done after ${deadlineSeconds} s`)
}

/** Waits until the servers, by their own account, have nothing left to do of what was put off; for how many seconds. */
export async function untilNothingWaits(parley: Parley): Promise<number> {
  const startedAt = performance.now()
  const passed = () => (performance.now() - startedAt) / 1000
  while ((await countWaiting(parley)) > 0) {
    if (passed() > deadlineSeconds) throw new Error(`Something waited for more than ${deadlineSeconds} s`)
    await delay(periodMs)
  }
  return passed()
}

/** What waits, over all nodes. */
async function countWaiting({ origins }: Parley): Promise<number> {
  const texts = await Promise.all(
    origins.map(async ({ host, port }) => (await fetch(`http://${host}:${port}/metrics`)).text()),
  )
  return texts.reduce((sum, text) => sum + gauges.reduce((waiting, name) => waiting + readGauge(text, name), 0), 0)
}

/** The sum of a gauge over its labels. */
export function readGauge(metrics: string, name: string): number {
  const values = [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))]
  return values.reduce((sum, [, value]) => sum + Number(value), 0)
}
