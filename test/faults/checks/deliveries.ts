import type { Delivery, History } from '../history.ts'
import type { Violation } from './violation.ts'

/** Receivers of webhooks get every event of an app in the order of the log; what comes again, comes as the same. */
export function checkDeliveries({ deliveries, receivers, end }: History): Violation[] {
  const trashed = new Set(end.messages.filter(({ is_trashed }) => is_trashed).map(({ id }) => id))
  const received = Map.groupBy(deliveries, ({ receiver }) => receiver)
  return receivers.flatMap(({ name, actions, since }) => {
    const own = received.get(name) ?? []
    const got = new Set(own.map(({ app, rev }) => `${app}:${rev}`))
    const missing = end.events.filter(
      ({ app_id, rev, type, entity_id }) =>
        actions.includes(type) && rev > (since[app_id] ?? 0) && !got.has(`${app_id}:${rev}`) && !trashed.has(entity_id),
    )
    return [
      ...[...Map.groupBy(own, ({ app }) => app).values()].flatMap(checkApp),
      ...missing.map(({ app_id: app, rev, type }) => ({
        rule: 'deliveries are complete',
        what: `${name} never got ${type} ${rev}`,
        app,
        rev,
      })),
    ]
  })
}

function checkApp(deliveries: Delivery[]): Violation[] {
  const guids = new Map<number, string>()
  const violations: Violation[] = []
  let last = 0
  for (const { at, receiver, guid, app, rev } of deliveries) {
    const place = { at, app, rev }
    const known = guids.get(rev)
    if (known === undefined && rev < last) {
      violations.push({ rule: 'deliveries are in order', what: `${receiver} got ${rev} after ${last}`, ...place })
    }
    if (known !== undefined && known !== guid) {
      const what = `${receiver} got ${rev} as ${known} and as ${guid}`
      violations.push({ rule: 'what is delivered again is named the same', what, ...place })
    }
    guids.set(rev, known ?? guid)
    last = Math.max(last, rev)
  }
  return violations
}
