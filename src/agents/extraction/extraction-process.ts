import { setPriority } from 'node:os'
import { endNow, takeOrders } from '../../lib/process/isolated-process.ts'
import { createLog } from '../../lib/log.ts'
import { Thread } from '../../lib/process/thread.ts'
import { brokeDown, type Extracted, type ExtractionOrder } from './format.ts'

/** Processor time for one document. */
const taskMs = 20_000

/** What the thread may hold, and the process with bytes: 200 MiB of those may be an archive, unpacked. */
const memoryMb = 256
const processLimitBytes = 640 * 1024 * 1024

/** How often is looked how much memory the process takes: streams of a PDF may unpack to any size. */
const watchMs = 50

const file = new URL('./extraction-thread.ts', import.meta.url)
const thread = new Thread<ExtractionOrder, Extracted>({
  file,
  taskMs,
  memoryMb,
  waitingLimit: 1,
  log: createLog('error'),
})

// Documents can wait; whoever writes and reads messages should not.
setPriority(10)
takeOrders(extract)

async function extract(order: ExtractionOrder): Promise<Extracted> {
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() > processLimitBytes) endNow()
  }, watchMs)
  try {
    const outcome = await thread.run(order)
    return outcome.state === 'done' ? outcome.result : brokeDown
  } finally {
    clearInterval(watch)
  }
}
