import { endWithParent } from '../apart.ts'
import { runBroadcast, type BroadcastJob, type BroadcastResult } from './broadcast.ts'
import { runExchange, type ExchangeJob } from './exchange.ts'
import { runFlood, type FloodJob, type Flooded } from './flood.ts'
import { openListeners, type Listening } from './listeners.ts'
import { runPaced, type PacedJob } from './paced.ts'
import type { Notice, Notify, Progress, Recorded } from './recorder.ts'

/** Holds WebSockets open until it is told to let them go. */
export interface HoldJob extends Listening {
  kind: 'hold'
}

/** Jobs that go on until they are released. */
export type LastingJob = HoldJob | FloodJob
export type Job = ExchangeJob | PacedJob | BroadcastJob | LastingJob
export type Result<Kind extends Job> = Kind extends ExchangeJob | PacedJob
  ? Recorded
  : Kind extends BroadcastJob
    ? BroadcastResult
    : Kind extends FloodJob
      ? Flooded
      : null

export type FromLoad = { notice: Notice | Progress } | { result: unknown } | { error: string }
export type ToLoad = { job: Job } | { release: true }

/** The load generator: a child process that does the jobs that its parent sends, one after the other. */
if (import.meta.main) {
  endWithParent()
  const tell = (message: FromLoad) => process.send!(message)
  let release = () => {}
  process.on('message', async (message: ToLoad) => {
    if ('release' in message) return release()
    try {
      const released = new Promise<void>(resolve => (release = resolve))
      tell({ result: await run(message.job, notice => tell({ notice }), released) })
    } catch (error) {
      tell({ error: (error as Error).stack ?? String(error) })
    }
  })
}

async function run(job: Job, notify: Notify, released: Promise<void>): Promise<unknown> {
  if (job.kind === 'exchange') return runExchange(job, notify)
  if (job.kind === 'paced') return runPaced(job, notify)
  if (job.kind === 'broadcast') return runBroadcast(job, notify)
  if (job.kind === 'flood') return runFlood(job, () => notify('started'), released)
  const connections = await openListeners(job, () => {})
  notify('started')
  await released
  for (const connection of connections) connection.close()
  return null
}
