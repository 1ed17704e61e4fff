import type { Call, EventRow, History } from '../history.ts'
import { isDone } from './answers.ts'
import type { Violation } from './violation.ts'

/** Each app has one history without a gap, in which nothing stands before what was acknowledged when it began. */
export function checkOrder(history: History): Violation[] {
  return [...checkChains(history), ...checkEventsOfMessages(history), ...checkRealTime(history), ...checkReads(history)]
}

function checkChains({ end }: History): Violation[] {
  const rule = 'one history without a gap'
  const heads = new Map(end.apps.map(({ id, head_rev }) => [id, head_rev]))
  const violations: Violation[] = []
  for (const [app, events] of Map.groupBy(end.events, ({ app_id }) => app_id)) {
    let last = 0
    for (const { rev, prev } of events) {
      if (prev !== last)
        violations.push({ rule, what: `rev ${rev} says that it follows ${prev}, not ${last}`, app, rev })
      last = rev
    }
    if (heads.get(app) !== last)
      violations.push({ rule, what: `the app is at ${heads.get(app)}, its log at ${last}`, app })
  }
  return violations
}

function checkEventsOfMessages({ end }: History): Violation[] {
  const rule = 'each message has one event'
  const counts = new Map(end.messages.map(({ id }) => [id, 0]))
  const violations: Violation[] = []
  for (const { app_id: app, rev, type, entity_id } of end.events) {
    if (type !== 'message_created') continue
    const count = counts.get(entity_id)
    if (count === undefined) violations.push({ rule, what: `event ${rev} is of no message`, app, rev })
    else counts.set(entity_id, count + 1)
  }
  for (const { id, app_id: app, text: key } of end.messages) {
    if (counts.get(id) !== 1) violations.push({ rule, what: `message ${id} has ${counts.get(id)} events`, app, key })
  }
  return violations
}

const isSent = (call: Call) => call.verb === 'send' && isDone(call)

/** What begins after something was acknowledged comes later in the app's history. */
function checkRealTime({ calls, end }: History): Violation[] {
  const revs = revsOfMessages(end.events)
  const violations: Violation[] = []
  for (const [app, sends] of Map.groupBy(calls.filter(isSent), call => call.app)) {
    // A repetition begins later than what it repeats.
    const begun = new Map<string, number>()
    for (const { key, at } of calls) begun.set(key, Math.min(at, begun.get(key) ?? at))
    const acknowledged = sends.toSorted((one, other) => one.doneAt - other.doneAt)
    let next = 0
    let highest = 0
    for (const send of sends.toSorted((one, other) => begun.get(one.key)! - begun.get(other.key)!)) {
      const startedAt = begun.get(send.key)!
      while (next < acknowledged.length && acknowledged[next]!.doneAt < startedAt) {
        highest = Math.max(highest, revs.get(acknowledged[next++]!.id!) ?? 0)
      }
      const rev = revs.get(send.id!)
      if (rev === undefined || rev > highest) continue
      const what = `rev ${rev} began after rev ${highest} was acknowledged`
      violations.push({ rule: 'acknowledged first comes first', what, app, rev, key: send.key, at: startedAt })
    }
  }
  return violations
}

/** A read shows what was acknowledged before it began, whoever wrote it through whichever node. */
function checkReads({ calls, end }: History): Violation[] {
  const rule = 'reads show what was acknowledged'
  const trashed = new Set(calls.filter(({ verb }) => verb === 'trash').map(({ item }) => item))
  for (const { id, is_trashed } of end.messages) if (is_trashed) trashed.add(id)
  const violations: Violation[] = []
  for (const [app, ofApp] of Map.groupBy(calls, call => call.app)) {
    const acknowledged = ofApp
      .filter(call => isSent(call) && !trashed.has(call.id))
      .toSorted((one, other) => one.doneAt - other.doneAt)
    let next = 0
    let newest = 0
    const reads = ofApp.filter(({ verb, status }) => verb === 'read' && status === 200)
    for (const { at, key, id, node } of reads.toSorted((one, other) => one.at - other.at)) {
      while (next < acknowledged.length && acknowledged[next]!.doneAt < at) {
        newest = Math.max(newest, acknowledged[next++]!.id!)
      }
      if ((id ?? 0) >= newest) continue
      violations.push({ rule, what: `node ${node} showed ${id} as the newest message, not ${newest}`, app, key, at })
    }
  }
  return violations
}

function revsOfMessages(events: EventRow[]): Map<number, number> {
  const created = events.filter(({ type }) => type === 'message_created')
  return new Map(created.map(({ entity_id, rev }) => [entity_id, rev]))
}
