/** The limits of realtime. Every one of them is enforced; documented in docs/realtime.md. */
export interface RealtimeSettings {
  /** Connections on this node; more are refused with 503. */
  sessions: number
  /** Connections on this node that have not said who they are yet; more are refused with 503. */
  unauthenticatedSessions: number
  /** Connections of one user on this node; more are refused with 429. */
  userSessions: number
  /** Apps that one session may be subscribed to. */
  subscriptions: number
  /** Frames that a session may send per second; it may save up as many as subscribing everywhere takes. */
  framesPerSecond: number
  /**
   * What the connections of one user may say in all, per second; it adds up to what subscribing everywhere takes. To read a
   * frame takes up to 0.2 ms for each KiB, whatever is in it.
   */
  userBytesPerSecond: number
  /** Size of a frame from a client; a larger one ends the connection. */
  frameBytes: number
  /** What may wait for a slow client. Beyond it the client is cut, and resumes by rev. */
  backlogBytes: number
  /** What may wait for all slow clients together; beyond it those with the most are cut. */
  totalBacklogBytes: number
  /** A replay pauses while more than this waits for its client. */
  replayBytes: number
  /** Encoded events that are kept for clients that come back soon, over all apps. */
  replayBufferBytes: number
  /** How long a connection may take to say who it is. */
  helloTimeoutMs: number
  /** A connection that was silent for this long, although it was pinged, is dead. */
  idleTimeoutSeconds: number
  /** How long changes of what is unread are gathered before they are sent. */
  unreadDelayMs: number
}

const mebibyte = 1024 * 1024

export const realtimeDefaults: RealtimeSettings = {
  // About 4 KiB each where it was measured, so 200 MB.
  sessions: 50_000,
  // Each may stay for ten seconds. A guess: a hundred clients a second may say hello at their leisure.
  unauthenticatedSessions: 1_000,
  userSessions: 50,
  subscriptions: 500,
  framesPerSecond: 50,
  userBytesPerSecond: 256 * 1024,
  frameBytes: 64 * 1024,
  // About a thousand typical events, or five of the largest. The kernel's buffers come on top: up to 4 MiB with Linux's
  // defaults, so a client that hits this limit is many seconds behind, and better off reading the log at its own pace.
  backlogBytes: mebibyte,
  totalBacklogBytes: 256 * mebibyte,
  replayBytes: 256 * 1024,
  replayBufferBytes: 32 * mebibyte,
  helloTimeoutMs: 10_000,
  // Half of what proxies commonly allow (60 s for nginx and most load balancers), because pings keep them open too.
  idleTimeoutSeconds: 30,
  unreadDelayMs: 250,
}
