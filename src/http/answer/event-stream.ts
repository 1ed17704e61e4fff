import { PassThrough } from 'node:stream'
import { systemClock } from '../../lib/clock.ts'
import { writeJson } from '../../api/json.ts'
import { Download } from './download.ts'
import { reply, type Representation, type Reply } from '../route.ts'

export const eventStreamType = 'text/event-stream'

/** The interval of comments: uWebSockets.js, and proxies, end an answer that is silent for ten seconds. */
const silentMs = 4_000

/** Sends one event: its name, and an object for the JSON writer. */
type SendEvent = (name: string, data: object) => void

/**
 * A reply of server-sent events (HTML standard, section 9.2). `run` sends them and resolves after the last one;
 * `signal` aborts when the client is gone. If it rejects, the connection is closed.
 */
export function replyWithEvents(
  { scalars }: Representation,
  run: (send: SendEvent, signal: AbortSignal) => Promise<void>,
): Reply<200> {
  const open = () => {
    const stream = new PassThrough()
    const gone = new AbortController()
    let cancel = () => {}
    const write = (text: string) => {
      cancel()
      if (stream.destroyed) return
      stream.write(text)
      cancel = systemClock.after(silentMs, () => write(':\n\n'))
    }
    stream.once('close', () => {
      cancel()
      gone.abort()
    })
    write(':\n\n')
    run((name, data) => write(`event: ${name}\ndata: ${writeJson(data, scalars)}\n\n`), gone.signal).then(
      () => stream.end(),
      (error: unknown) => stream.destroy(gone.signal.aborted ? undefined : (error as Error)),
    )
    return stream
  }
  const headers = { 'Content-Type': eventStreamType, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' }
  return reply(200, new Download({ sizeBytes: null, etag: null, open }), headers)
}
