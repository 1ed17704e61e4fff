/** What endpoints need of the realtime connections of all nodes; realtime/session-directory.ts does it. */
export interface LiveSessions {
  /** The newest connections that match, at most so many, how many there are, and the nodes that did not say. */
  list(filter: { user?: number | undefined; app?: number | undefined }, limit: number): Promise<LiveSessionPage>
  /** False where there is no such connection; true as well where its node does not say. */
  mayHave(node: string, number: number): Promise<boolean>
}

interface LiveSessionPage {
  sessions: LiveSession[]
  count: number
  silent: string[]
}

export interface LiveSession {
  node: string
  /** Tells it from the others of its node. */
  number: number
  kind: 'native' | 'hub'
  /** Null before the client has said who it is. */
  user: number | null
  /** In milliseconds. */
  since: number
  ip: string
  /** The first of the apps that it is subscribed to, and how many there are. */
  apps: number[]
  subscriptions: number
}
