import type { Load } from './exchange.ts'
import { repeat } from './pace.ts'
import { ReadingAlong } from './readers.ts'
import { Recorder, type Notify, type Recorded } from './recorder.ts'
import { Requests } from './requests.ts'
import { Senders } from './senders.ts'

/**
 * Sends requests at fixed instants, whether or not the server keeps up. A latency begins at the instant that the request
 * was meant for: one that could not be sent in time because others waited has waited as well.
 */
export interface PacedJob extends Load {
  kind: 'paced'
  perSecond: number
}

export async function runPaced(job: PacedJob, notify: Notify): Promise<Recorded> {
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  const recorder = new Recorder()
  const readers = job.readers && (await ReadingAlong.open(job.readers, fail))
  const origin = job.servers[0]!
  const senders = new Senders(origin, fail)
  let last = 0
  const next = () => last++
  const sources = job.connections.map(texts => new Requests(texts, { origin, ids: job.ids ?? [], next }))
  let turn = 0
  let isOver = false

  const send = (wantedAt: number) => {
    if (isOver) return
    const request = sources[turn++ % sources.length]!.take()
    senders.send(request, status => recorder.record(performance.now() - wantedAt, status))
  }
  try {
    // Ends a little later than what is measured, so that this has its full rate to the last.
    void repeat(send, job.perSecond, job.warmupSeconds + job.seconds + 1)
    const end = () => (isOver = true)
    return await recorder.run(job, { notify, failed, end, open: () => senders.open })
  } finally {
    isOver = true
    senders.close()
    readers?.close()
  }
}
