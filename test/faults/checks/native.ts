import type { EventRow, History, Sighting } from '../history.ts'
import type { Violation } from './violation.ts'

/** Events that nobody is told of. */
const untold = new Set(['settings_changed'])

/**
 * Subscribers that resume by rev hear every event once, in the order of the log, across all their connections, and are
 * at its end when everything is quiet.
 */
export function checkNative({ sightings, end }: History): Violation[] {
  const logs = Map.groupBy(end.events, ({ app_id }) => app_id)
  const trashed = new Set(end.messages.filter(({ is_trashed }) => is_trashed).map(({ id }) => id))
  const told = sightings.native.filter(({ frame }) => frame !== 'closed')
  const streams = Map.groupBy(told, ({ observer, app }) => `${observer} ${app}`)
  return [...streams.values()].flatMap(stream => {
    const log = logs.get(stream[0]!.app) ?? []
    return [...checkStream(stream), ...checkComplete(stream, log, trashed)]
  })
}

/** What a client can see by itself. */
function checkStream(stream: Sighting[]): Violation[] {
  const violations: Violation[] = []
  let last: number | null = null
  let isRenewing = false
  for (const { at, observer, connection, node, app, frame, rev, prev = 0, after, event, isRenewed = false } of stream) {
    const found = (rule: string, what: string) =>
      violations.push({
        rule,
        what: `${observer}, connection ${connection} to node ${node}: ${what}`,
        at,
        app,
        rev,
        observer,
      })
    if (frame === 'subscribed') isRenewing = isRenewed
    if (frame === 'reset' && !isRenewing) found('no subscriber has to reload in its epoch', `reset to ${rev}`)
    if (frame === 'subscribed' && after !== undefined && rev !== after && !isRenewed) {
      found('subscribers go on where they were', `asked for what followed ${after}, got what follows ${rev}`)
    }
    if (frame === 'event' && last !== null) {
      if (rev <= last) found('nothing is heard twice or out of order', `${event} ${rev} came after ${last}`)
      if (prev > last) found('subscribers hear without a gap', `${event} ${rev} follows ${prev}, heard was ${last}`)
    }
    if (!isRenewed) last = last === null || frame === 'reset' ? rev : Math.max(last, rev)
  }
  return violations
}

/** What only the log can tell: `prev` vouches for nothing if whoever makes it has forgotten an event. */
function checkComplete(stream: Sighting[], log: EventRow[], trashed: Set<number>): Violation[] {
  const { observer, app, rev: first } = stream[0]!
  const heard = new Map(stream.filter(({ frame }) => frame === 'event').map(sighting => [sighting.rev, sighting]))
  const violations: Violation[] = []
  const known = new Map(log.map(event => [event.rev, event]))
  const reloaded = listReloaded(stream)
  for (const { rev, event, item, at } of heard.values()) {
    const row = known.get(rev)
    const isSame = row !== undefined && row.type === event && (item === undefined || row.entity_id === item)
    if (isSame) continue
    const what = `${observer} heard ${event} of ${item ?? app} as ${rev}; the log has ${row?.type} of ${row?.entity_id}`
    violations.push({ rule: 'everybody hears what the log says', what, at, app, rev, observer })
  }
  for (const { rev, type, entity_id } of log) {
    // What is in the trash by then is not told again.
    if (rev <= first || heard.has(rev) || untold.has(type) || trashed.has(entity_id)) continue
    if (reloaded.some(({ from, to }) => from < rev && rev <= to)) continue
    const after = stream.find(sighting => sighting.rev > rev)
    const what = `${observer} has never heard ${type} ${rev}${after === undefined ? ', nor anything later' : ''}`
    violations.push({ rule: 'subscribers miss nothing', what, at: after?.at, app, rev, observer })
  }
  return violations
}

/** What an observer had to load because its epoch was over: everything after `from`, up to `to`. */
function listReloaded(stream: Sighting[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = []
  let last = 0
  let isRenewing = false
  for (const { frame, rev, isRenewed = false } of stream) {
    if (frame === 'subscribed') isRenewing = isRenewed
    if (frame === 'reset' && isRenewing) ranges.push({ from: last, to: rev })
    if (!isRenewed) last = Math.max(last, rev)
  }
  return ranges
}
