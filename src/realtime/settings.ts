/** The limits of realtime, documented in docs/realtime.md. */
export interface RealtimeSettings {
  /** Connections on this node; further ones get 503. */
  sessions: number
  /** Unauthenticated connections on this node; further ones get 503. */
  unauthenticatedSessions: number
  /** Connections of one user on this node; further ones get 429. */
  userSessions: number
  /** Apps that one session may be subscribed to. */
  subscriptions: number
  /** Frames that a session may send per second; unused ones add up to what subscribing to all apps takes. */
  framesPerSecond: number
  /**
   * Bytes that the connections of one user may send per second; unused ones add up to what subscribing to all apps
   * takes. Reading a frame takes up to 0.2 ms per KiB.
   */
  userBytesPerSecond: number
  /** Size of a frame from a client; a larger one ends the connection. */
  frameBytes: number
  /** Unsent bytes of one client. Beyond it the client is cut, and resumes by rev. */
  backlogBytes: number
  /** Unsent bytes of all clients together; beyond it the slowest are cut. */
  totalBacklogBytes: number
  /** A replay pauses while the client has more unsent bytes than this. */
  replayBytes: number
  /** Encoded events that are kept in memory for clients that reconnect soon, over all apps. */
  replayBufferBytes: number
  /** How long a connection may take to authenticate. */
  helloTimeoutMs: number
  /** A connection that is silent for this long, although it was pinged, is dead. */
  idleTimeoutSeconds: number
  /** How long changes of unread counts are gathered before they are sent. */
  unreadDelayMs: number
  /** They are sent at most once in this time. */
  unreadPeriodMs: number
}

const mebibyte = 1024 * 1024

export const realtimeDefaults: RealtimeSettings = {
  // About 4 KiB each (measured), so 200 MB.
  sessions: 50_000,
  // Each may stay for ten seconds, so a hundred clients a second may take all their time. A guess.
  unauthenticatedSessions: 1_000,
  userSessions: 50,
  subscriptions: 500,
  framesPerSecond: 50,
  userBytesPerSecond: 256 * 1024,
  frameBytes: 64 * 1024,
  // About a thousand typical events, or five of the largest. The kernel's buffers add up to 4 MiB with Linux's
  // defaults, so a client that hits this limit is many seconds behind, and better off reading the log at its own pace.
  backlogBytes: mebibyte,
  totalBacklogBytes: 256 * mebibyte,
  replayBytes: 256 * 1024,
  replayBufferBytes: 32 * mebibyte,
  helloTimeoutMs: 10_000,
  // Half of the usual timeout of proxies (60 s for nginx and most load balancers), because pings keep them open too.
  idleTimeoutSeconds: 30,
  unreadDelayMs: 250,
  // Where 200 messages a second arrive in rooms of ten, of whom four are connected, four times as many frames as once a
  // second are a fourteenth of the server's time.
  unreadPeriodMs: 1_000,
}
