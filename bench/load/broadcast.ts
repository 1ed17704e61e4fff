import { summarise, type Latencies } from '../latencies.ts'
import { HttpConnection } from './http-connection.ts'
import { openListeners, type Listening } from './listeners.ts'
import type { Notice } from './process.ts'

/**
 * Sends messages at a fixed rate, and listens for them on many WebSockets. Sender and listeners are one process, so
 * that both ends of a delivery are read from one clock.
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

export async function runBroadcast(job: BroadcastJob, notify: (notice: Notice) => void): Promise<BroadcastResult> {
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
  const senders = new Senders(job.port, fail)
  try {
    const send = () => senders.send(job.request.replace('{time}', toInstant(performance.now())))
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

/** As many connections as there are requests at once: uWebSockets.js takes one at a time from each. */
class Senders {
  readonly #port: number
  readonly #fail: (error: Error) => void
  readonly #all: HttpConnection[] = []
  readonly #free: HttpConnection[] = []

  constructor(port: number, fail: (error: Error) => void) {
    this.#port = port
    this.#fail = fail
  }

  send(request: string): void {
    const connection = this.#free.pop() ?? this.#open()
    connection.send(request)
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }

  #open(): HttpConnection {
    const answered = (status: number) => {
      if (status > 299) this.#fail(new Error(`A message was refused with ${status}`))
      this.#free.push(connection)
    }
    const lost = (error: Error | null) => {
      // The server closes what was idle for a while; a connection that waits for its answer must not be lost.
      const at = this.#free.indexOf(connection)
      if (at === -1) this.#fail(error ?? new Error('The server closed a connection'))
      else this.#free.splice(at, 1)
    }
    const connection = new HttpConnection(this.#port, answered, lost)
    this.#all.push(connection)
    return connection
  }
}

/** Every instant is written with as many characters, so that a prepared request keeps its length. */
const instantLength = 16
export const toInstant = (ms: number) => ms.toFixed(4).padStart(instantLength, '0')

/** Calls at fixed instants, late ones at once: a slow answer must not make the load smaller. Returns how often. */
async function repeat(run: () => void, perSecond: number, seconds: number): Promise<number> {
  const start = performance.now()
  const count = Math.round(perSecond * seconds)
  for (let done = 0; done < count; done++) {
    const wantedAt = start + (done * 1000) / perSecond
    const early = wantedAt - performance.now()
    if (early > 0) await wait(early / 1000)
    run()
  }
  await wait(Math.max(0, start + seconds * 1000 - performance.now()) / 1000)
  return count
}

function readNumber(frame: Buffer, key: Buffer): number {
  let at = frame.indexOf(key) + key.length
  if (frame[at] === 0x22) at++
  let value = 0
  for (let digit = frame[at]! - 48; digit >= 0 && digit <= 9; digit = frame[++at]! - 48) value = value * 10 + digit
  return value
}

const wait = (seconds: number) => new Promise(resolve => setTimeout(resolve, seconds * 1000))
