/** What is sent to a receiver beside the queues. */
export interface Ping {
  url: string
  secret: string | null
  /** The one before, while it signs along. */
  oldSecret: string | null
  guid: string
  trigger: string
  body: string
}

/** What came of it. */
export interface PingOutcome {
  status: 'success' | 'failure'
  delivered_at: Date
  duration_ms: number
  status_code: number | null
  body: string | null
  request: object | null
  response: object
}

/** Sends something to the receiver of a webhook at once, as deliveries are sent, and waits for its answer. */
export interface Pings {
  send(ping: Ping): Promise<PingOutcome>
}
