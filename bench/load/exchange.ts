import { HttpConnection } from './http-connection.ts'
import { ReadingAlong, type Readers } from './readers.ts'
import { Recorder, type Notify, type Recorded, type Timing } from './recorder.ts'
import { Requests } from './requests.ts'
import type { Origin } from './socket.ts'

/** What requests are made of, whenever they are sent. */
export interface Load extends Timing {
  servers: Origin[]
  /** For each connection the requests that it sends in turn; see `Requests` for what they leave open. */
  connections: string[][]
  ids?: number[]
  readers?: Readers
}

/** Keeps connections busy in a closed loop: each sends its next request when the last was answered. */
export interface ExchangeJob extends Load {
  kind: 'exchange'
  /** The server of each connection, by its place in `servers`. Without it, all go to the first. */
  places?: number[]
  /** So many requests after each other make one operation. Without it, each is one. */
  requestsPerOperation?: number
}

export async function runExchange(job: ExchangeJob, notify: Notify): Promise<Recorded> {
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  const recorder = new Recorder()
  const perOperation = job.requestsPerOperation ?? 1
  const readers = job.readers && (await ReadingAlong.open(job.readers, fail))
  let isOver = false
  let open = 0
  let last = 0
  const next = () => last++

  const connections = job.connections.map((texts, index) => {
    const origin = job.servers[job.places?.[index] ?? 0]!
    const requests = new Requests(texts, { origin, ids: job.ids ?? [], next })
    let step = 0
    let startedAt = 0
    let worst = 200
    const begin = () => {
      step = 0
      worst = 200
      startedAt = performance.now()
      connection.send(requests.take())
    }
    const answered = (status: number) => {
      worst = Math.max(worst, status)
      if (++step < perOperation && status < 300) return connection.send(requests.take())
      recorder.record(performance.now() - startedAt, worst)
      if (isOver) open--
      else begin()
    }
    const lost = (error: Error | null) => fail(error ?? new Error('The server closed a connection'))
    const connection = new HttpConnection(origin, answered, lost)
    open++
    begin()
    return connection
  })

  try {
    return await recorder.run(job, { notify, failed, end: () => (isOver = true), open: () => open })
  } finally {
    isOver = true
    for (const connection of connections) connection.close()
    readers?.close()
  }
}
