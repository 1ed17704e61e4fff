import { summarise, type Latencies } from '../latencies.ts'
import { HttpConnection } from './http-connection.ts'
import type { Notice } from './process.ts'

/**
 * Keeps connections busy in a closed loop: each sends its next request when the last was answered, for `seconds`
 * after a warm-up.
 */
export interface ExchangeJob {
  kind: 'exchange'
  port: number
  /** For each connection the requests that it sends in turn. `{id}` in them stands for the next of `ids`. */
  connections: string[][]
  ids?: number[]
  warmupSeconds: number
  seconds: number
}

export interface ExchangeResult {
  operations: number
  seconds: number
  /** Answers other than 2xx. */
  failures: number
  latencies: Latencies
}

export async function runExchange(job: ExchangeJob, notify: (notice: Notice) => void): Promise<ExchangeResult> {
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  const latencies: number[] = []
  let isMeasured = false
  let isOver = false
  let failures = 0

  const connections = job.connections.map(texts => {
    const requests = texts.map(text => (text.includes('{id}') ? text : Buffer.from(text)))
    let turn = 0
    let round = 0
    let sentAt = 0
    const next = () => {
      const request = requests[turn]!
      sentAt = performance.now()
      connection.send(
        typeof request === 'string' ? request.replace('{id}', `${job.ids![round % job.ids!.length]}`) : request,
      )
      turn = (turn + 1) % requests.length
      if (turn === 0) round++
    }
    const answered = (status: number) => {
      if (isMeasured) {
        latencies.push(performance.now() - sentAt)
        if (status < 200 || status > 299) failures++
      }
      if (!isOver) next()
    }
    const lost = (error: Error | null) => fail(error ?? new Error('The server closed a connection'))
    const connection = new HttpConnection(job.port, answered, lost)
    next()
    return connection
  })

  const measured = async () => {
    await wait(job.warmupSeconds)
    isMeasured = true
    notify('started')
    const start = performance.now()
    await wait(job.seconds)
    isMeasured = false
    notify('ended')
    return (performance.now() - start) / 1000
  }
  try {
    const seconds = await Promise.race([measured(), failed])
    return { operations: latencies.length, seconds, failures, latencies: summarise(latencies) }
  } finally {
    isOver = true
    for (const connection of connections) connection.close()
  }
}

const wait = (seconds: number) => new Promise(resolve => setTimeout(resolve, seconds * 1000))
