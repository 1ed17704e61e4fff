import { summarise, type Latencies } from '../latencies.ts'
import { addressed } from './http-connection.ts'
import { openListeners, type Listening } from './listeners.ts'
import { repeat, wait } from './pace.ts'
import type { Notify } from './recorder.ts'
import { Senders } from './senders.ts'

/**
 * Sends messages at a fixed rate to the first server, and listens for them on many WebSockets. Sender and listeners are
 * one process, so that both ends of a delivery are read from one clock.
 */
export interface BroadcastJob extends Listening {
  kind: 'broadcast'
  /** The request that sends a message. `{time}` stands for the instant; its length is that of `toInstant`. */
  request: string
  perSecond: number
  warmupSeconds: number
  seconds: number
  /** What only frames that deliver a message have in them: it is also heard of as a notification, for instance. */
  delivery: string
  /** Whether these frames carry `rev` and `prev`, and so show what is missing. */
  isChained: boolean
}

export interface BroadcastResult {
  sent: number
  /** Deliveries that did not arrive, and those that broke the chain of revs or the order in which others heard. */
  missing: number
  broken: number
  latencies: Latencies
  /** What one delivery looked like. */
  sample: string
}

/** How long the last deliveries may take to arrive. */
const graceSeconds = 3

const mark = Buffer.from('"t=')
const rev = Buffer.from('"rev":')
const prev = Buffer.from('"prev":')

export async function runBroadcast(job: BroadcastJob, notify: Notify): Promise<BroadcastResult> {
  const latencies: number[] = []
  const delivery = Buffer.from(job.delivery)
  const told = new Float64Array(job.listeners.length)
  /** The instants of the messages in the order in which everybody is to hear them, and how many each has heard. */
  const order: number[] = []
  const places = new Uint32Array(job.listeners.length)
  let sample = ''
  let broken = 0
  let heard = 0
  let measuredFrom = Infinity

  const hear = (listener: number, frame: Buffer) => {
    if (!frame.includes(delivery)) return
    if (job.isChained) {
      if (told[listener] !== 0 && readNumber(frame, prev) !== told[listener]) broken++
      told[listener] = readNumber(frame, rev)
    }
    const at = frame.indexOf(mark)
    if (at === -1) return
    const sentAt = Number(frame.toString('latin1', at + mark.length, at + mark.length + instantLength))
    const place = places[listener]!++
    if ((order[place] ??= sentAt) !== sentAt) broken++
    if (sentAt < measuredFrom) return
    latencies.push(performance.now() - sentAt)
    heard++
    if (sample === '') sample = frame.toString()
  }

  const listeners = await openListeners(job, hear)
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  const senders = new Senders(job.servers[0]!, fail)
  const request = addressed(job.request, job.servers[0]!)
  const answered = (status: number) => {
    if (status > 299) fail(new Error(`A message was refused with ${status}`))
  }
  try {
    const send = () => senders.send(request.replace('{time}', toInstant(performance.now())), answered)
    await Promise.race([failed, repeat(send, job.perSecond, job.warmupSeconds)])
    notify('started')
    measuredFrom = performance.now()
    const sent = await Promise.race([failed, repeat(send, job.perSecond, job.seconds)])
    notify('ended')
    const expected = sent * listeners.length
    const isComplete = () => heard >= expected
    for (let waited = 0; !isComplete() && waited < graceSeconds; waited += 0.02) await wait(0.02)
    return { sent, missing: expected - heard, broken, latencies: summarise(latencies), sample }
  } finally {
    senders.close()
    for (const listener of listeners) listener.close()
  }
}

/** Every instant is written with as many characters, so that a prepared request keeps its length. */
const instantLength = 16
export const toInstant = (ms: number) => ms.toFixed(4).padStart(instantLength, '0')

function readNumber(frame: Buffer, key: Buffer): number {
  let at = frame.indexOf(key) + key.length
  if (frame[at] === 0x22) at++
  let value = 0
  for (let digit = frame[at]! - 48; digit >= 0 && digit <= 9; digit = frame[++at]! - 48) value = value * 10 + digit
  return value
}
