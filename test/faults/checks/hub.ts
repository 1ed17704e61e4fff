import type { Call, EventRow, History, Sighting } from '../history.ts'
import type { Violation } from './violation.ts'

/**
 * Hub clients hear each new message once and in order over all their connections, and on each connection everything
 * from their subscription until its end.
 */
export function checkHub({ sightings, calls, end }: History): Violation[] {
  const trashed = new Set(end.messages.filter(({ is_trashed }) => is_trashed).map(({ id }) => id))
  const isDue = ({ type, entity_id }: EventRow) => type === 'message_created' && !trashed.has(entity_id)
  const due = Map.groupBy(end.events.filter(isDue), ({ app_id }) => app_id)
  const begun = beginnings(calls, end.messages)
  const violations: Violation[] = []
  for (const [observer, own] of Map.groupBy(sightings.hub, ({ observer }) => observer)) {
    const closed = new Set(own.filter(({ frame }) => frame === 'closed').map(({ connection }) => connection))
    const streams = Map.groupBy(
      own.filter(({ frame }) => frame !== 'closed'),
      ({ app }) => app,
    )
    for (const [app, stream] of streams) {
      violations.push(...checkOnce(stream))
      for (const [connection, part] of Map.groupBy(stream, sighting => sighting.connection)) {
        const isOpen = !closed.has(connection)
        violations.push(...checkConnection(part, { observer, app, due: due.get(app) ?? [], begun, isOpen }))
      }
    }
  }
  return violations
}

/** When the first attempt to send each message began. */
function beginnings(calls: Call[], messages: { id: number; text: string }[]): Map<number, number> {
  const ids = new Map(messages.map(({ id, text }) => [text, id]))
  const begun = new Map<number, number>()
  for (const { key, at } of calls) {
    const id = ids.get(key)
    if (id !== undefined && !begun.has(id)) begun.set(id, at)
  }
  return begun
}

function checkOnce(stream: Sighting[]): Violation[] {
  const heard = new Map<number, Sighting>()
  const violations: Violation[] = []
  let last = 0
  for (const sighting of stream) {
    const { frame, rev, at, app, observer, connection, node } = sighting
    if (frame !== 'event') continue
    const before = heard.get(rev)
    const where = `${observer}, connection ${connection} to node ${node}`
    if (before !== undefined) {
      const what = `${where}: message ${rev} again, first on connection ${before.connection} to node ${before.node}`
      violations.push({ rule: 'hub clients hear nothing twice', what, at, app, rev, observer })
    } else if (rev < last) {
      const what = `${where}: message ${rev} after ${last}`
      violations.push({ rule: 'hub clients hear in order', what, at, app, rev, observer })
    }
    heard.set(rev, sighting)
    last = Math.max(last, rev)
  }
  return violations
}

interface Context {
  observer: string
  app: number
  /** The messages of the app that are to be heard, in order. */
  due: EventRow[]
  begun: Map<number, number>
  isOpen: boolean
}

function checkConnection(part: Sighting[], { observer, app, due, begun, isOpen }: Context): Violation[] {
  const events = part.filter(({ frame }) => frame === 'event')
  const subscribedAt = part.find(({ frame }) => frame === 'subscribed')?.at ?? Number.POSITIVE_INFINITY
  const heard = new Set(events.map(({ rev }) => rev))
  const first = events[0]?.rev ?? Number.POSITIVE_INFINITY
  const last = isOpen ? Number.POSITIVE_INFINITY : (events.at(-1)?.rev ?? 0)
  const isMissed = ({ rev, entity_id }: EventRow) => {
    if (heard.has(rev) || rev > last) return false
    // What was on its way when the client came may belong to before or after.
    return rev > first || (begun.get(entity_id) ?? 0) > subscribedAt
  }
  const { connection, node, at } = part[0]!
  return due.filter(isMissed).map(({ rev }) => ({
    rule: 'hub clients miss nothing while they are connected',
    what: `${observer}, connection ${connection} to node ${node}: message ${rev} was not heard`,
    at: events.find(event => event.rev > rev)?.at ?? at,
    app,
    rev,
    observer,
  }))
}
