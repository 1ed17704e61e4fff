import type { Call, History, Loss, Sighting } from '../history.ts'
import { isDone } from './answers.ts'
import type { Violation } from './violation.ts'

/** What a node has already sent when it hears that its epoch is over may arrive for so long. A guess. */
const underWayMs = 5_000

/**
 * The history as a client may see it whose database has lost commits in promotions: what was acknowledged meanwhile may
 * have been done or not, and what was told of it is left out. Nobody may be told or shown of it later: that is the
 * violations.
 */
export function withoutLost(history: History): { history: History; violations: Violation[] } {
  const { losses, end } = history
  if (losses.length === 0) return { history, violations: [] }
  const stored = new Set(end.messages.map(({ id }) => id))
  const logged = new Set(end.events.map(({ app_id, rev }) => `${app_id}:${rev}`))
  const isLogged = ({ app, rev }: { app: number; rev: number }) => logged.has(`${app}:${rev}`)
  const lostIds = new Set(history.calls.filter(call => mayBeLost(call, losses)).map(({ id }) => id))
  for (const id of stored) lostIds.delete(id)
  const lastAt = Math.max(...losses.map(({ untilAt }) => untilAt))
  const violations: Violation[] = []
  const ghost = (what: string, place: Omit<Violation, 'rule' | 'what'>) =>
    void violations.push({ rule: 'nobody is served what the database has lost', what, ...place })

  const calls = history.calls.flatMap((call): Call[] => {
    const { verb, id, item, at, app, key, node } = call
    // A person may still wish something of a message that is gone.
    if (item !== null && lostIds.has(item)) return []
    if (verb === 'read' && id !== null && at > lastAt && !stored.has(id))
      ghost(`node ${node} showed ${id} as the newest message`, { at, app, key })
    return [verb !== 'read' && mayBeLost(call, losses) ? { ...call, status: null, id: null } : call]
  })

  const keepTold = (told: Sighting[]): Sighting[] => {
    const begun = new Map<string, number>()
    return told.flatMap((sighting): Sighting[] => {
      const { observer, connection, node, frame, rev, at, app, after, askedAt } = sighting
      if (frame === 'subscribed' && askedAt !== undefined) begun.set(`${observer} ${connection}`, askedAt)
      // It goes on from a rev that is gone: a reset follows.
      if (frame === 'subscribed' && after !== undefined && !isLogged({ app, rev: after }))
        return [{ ...sighting, isRenewed: true }]
      if (frame !== 'event' || isLogged(sighting)) return [sighting]
      if (begun.get(`${observer} ${connection}`)! > lastAt)
        ghost(`${observer}, connection ${connection} to node ${node}: was told ${rev}`, { at, app, rev, observer })
      return []
    })
  }
  const sightings = { native: keepTold(history.sightings.native), hub: keepTold(history.sightings.hub) }

  const deliveries = history.deliveries.filter(delivery => {
    if (isLogged(delivery)) return true
    const { receiver, rev, app, at } = delivery
    if (at > lastAt + underWayMs) ghost(`${receiver} got ${rev}`, { at, app, rev })
    return false
  })
  return { history: { ...history, calls, sightings, deliveries }, violations }
}

/** It was acknowledged by a primary of which the next one may not have heard. */
function mayBeLost(call: Call, losses: readonly Loss[]): boolean {
  return isDone(call) && losses.some(({ from, untilAt }) => call.doneAt >= from && call.at <= untilAt)
}
