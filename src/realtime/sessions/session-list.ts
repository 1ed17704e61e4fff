import { z } from 'zod'
import type { Session, SessionKind } from './session.ts'
import type { Sessions } from './sessions.ts'

/** Selects sessions; each absent member matches all. */
export const SessionFilter = z.object({
  user: z.int().optional(),
  /** Sessions that are subscribed to this app. */
  app: z.int().optional(),
  number: z.int().optional(),
})
export type SessionFilter = z.output<typeof SessionFilter>

/** A session in a list: plain values, so that it can be sent between nodes. */
const ListedSession = z.object({
  number: z.int(),
  kind: z.custom<SessionKind>(value => typeof value === 'string'),
  /** Null before the session is authenticated. */
  user: z.int().nullable(),
  /** When its socket opened, in milliseconds since 1970. */
  since: z.number(),
  ip: z.string(),
  /** The first apps that it is subscribed to; `subscriptions` is their number. */
  apps: z.array(z.int()),
  subscriptions: z.int(),
})
export type ListedSession = z.output<typeof ListedSession>

export const SessionPage = z.object({
  sessions: z.array(ListedSession),
  /** The number of matching sessions, listed or not. */
  count: z.int(),
})
export type SessionPage = z.output<typeof SessionPage>

/** Apps listed for each session: as many as a table row has room for, so that a page stays small. */
const appsShown = 10

/** The open sessions of this node that match, newest first, at most `limit`. Looks at each session of the node. */
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
