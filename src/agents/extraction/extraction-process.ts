import { setPriority } from 'node:os'
import { endNow, takeOrders } from '../../lib/process/isolated-process.ts'
import { createLog } from '../../lib/log.ts'
import { Thread } from '../../lib/process/thread.ts'
import { brokeDown, type Extracted, type ExtractionOrder } from './format.ts'

/** Processor time for one document. */
const taskMs = 20_000

/** The memory limits of the thread, and of the process with bytes: 200 MiB of these may be an unpacked archive. */
const memoryMb = 256
const processLimitBytes = 640 * 1024 * 1024

/** How often the memory of the process is checked: streams of a PDF may unpack to any size. */
const watchMs = 50

const file = new URL('./extraction-thread.ts', import.meta.url)
const thread = new Thread<ExtractionOrder, Extracted>({
  file,
  taskMs,
  memoryMb,
  waitingLimit: 1,
  log: createLog('error'),
})

// Documents can wait; messages should not.
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
