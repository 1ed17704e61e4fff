import type { Session, SessionKind } from './session.ts'
import type { Sessions } from './sessions.ts'

/** Which sessions are asked for; without any of these, all. */
export interface SessionFilter {
  user?: number | undefined
  /** Those that are subscribed to this app. */
  app?: number | undefined
  number?: number | undefined
}

/** A connection as it is listed: plain values, so that it can be sent between nodes. */
export interface ListedSession {
  number: number
  kind: SessionKind
  /** Null before the client has said who it is. */
  user: number | null
  /** When its socket opened, in milliseconds. */
  since: number
  ip: string
  /** The apps that it is subscribed to: the first of them, and how many there are. */
  apps: number[]
  subscriptions: number
}

export interface SessionPage {
  sessions: ListedSession[]
  /** How many match, listed or not. */
  count: number
}

/** Apps that are named with each session: as many as a table row has room for, so that a page stays small. */
const appsShown = 10

/** The open sessions of this node that match, newest first, at most `limit` of them. Looks at each of the node's sessions. */
export function listSessions(
  sessions: Pick<Sessions, 'of' | typeof Symbol.iterator>,
  { user, app, number }: SessionFilter,
  limit: number,
): SessionPage {
  const found: Session[] = []
  for (const session of user === undefined ? sessions : sessions.of(user)) {
    if (session.isClosed || (app !== undefined && !session.subscriptions.has(app))) continue
    if (number === undefined || session.number === number) found.push(session)
  }
  found.sort((a, b) => b.number - a.number)
  return { sessions: found.slice(0, limit).map(toListed), count: found.length }
}

function toListed({ number, kind, user, since, ip, subscriptions }: Session): ListedSession {
  const apps = [...subscriptions.keys()].slice(0, appsShown)
  return { number, kind, user: user ?? null, since, ip, apps, subscriptions: subscriptions.size }
}
