import type { Violation } from './checks/violation.ts'
import type { History } from './history.ts'

/** Faults that ended so long before something went wrong may have been the reason. */
const aftermathMs = 6_000

/** Frames and events that are shown on either side of the one that matters. */
const around = 3

const seconds = (at: number) => `${(at / 1_000).toFixed(3)} s`

/** Of a whole history, the lines that have to do with one violation: the writes, who heard what, and the faults before. */
export function tell(violation: Violation, history: History): string {
  const { rule, what, at, app, key } = violation
  const rev = violation.rev
  const item = history.end.events.find(event => event.app_id === app && event.rev === rev)?.entity_id
  const text = key ?? history.end.messages.find(({ id }) => id === item)?.text
  const calls = history.calls.filter(call => call.key === text)
  const moment = at ?? calls[0]?.at
  return [
    `${rule}: ${what}${moment === undefined ? '' : `, at ${seconds(moment)}`}`,
    ...tellFaults(history, moment),
    ...calls.map(call => {
      const answer = call.status === null ? 'no answer' : `${call.status}${call.id === null ? '' : `, id ${call.id}`}`
      return `  ${seconds(call.at)}  ${call.verb} "${call.key}" through node ${call.node}: ${answer} at ${seconds(call.doneAt)}`
    }),
    ...tellLog(history, app, rev),
    ...tellFrames(history, violation),
  ].join('\n')
}

function tellFaults({ faults }: History, at: number | undefined): string[] {
  if (at === undefined) return []
  const near = faults.filter(fault => fault.at <= at && fault.untilAt >= at - aftermathMs)
  return near.map(({ at: from, untilAt, name }) => `  ${seconds(from)} to ${seconds(untilAt)}  fault: ${name}`)
}

function tellLog({ end }: History, app: number | undefined, rev: number | undefined): string[] {
  const log = end.events.filter(event => event.app_id === app)
  const place = log.findIndex(event => event.rev === rev)
  if (place === -1) return []
  const near = log.slice(Math.max(0, place - around), place + around + 1)
  return near.map(event => `  log of app ${app}: ${event.rev} after ${event.prev}, ${event.type} of ${event.entity_id}`)
}

function tellFrames({ sightings }: History, { app, rev, observer }: Violation): string[] {
  const isTold = sightings.native.some(sighting => sighting.observer === observer)
  const own = (isTold ? sightings.native : sightings.hub).filter(
    sighting => sighting.observer === observer && (sighting.app === app || sighting.frame === 'closed'),
  )
  const places = own.flatMap((sighting, i) => (sighting.rev === rev ? [i] : []))
  const later = own.findIndex(sighting => sighting.rev > (rev ?? Number.POSITIVE_INFINITY))
  if (places.length === 0 && later !== -1) places.push(later)
  const shown = new Set(places.flatMap(i => Array.from({ length: 2 * around + 1 }, (_, j) => i - around + j)))
  return own.flatMap(({ at, connection, node, frame, rev: told, prev, event, after }, i) => {
    if (!shown.has(i)) return []
    const rest = [event, prev === undefined ? '' : `prev ${prev}`, after === undefined ? '' : `after ${after}`]
    const words = [frame, told, ...rest.filter(Boolean)].join(' ')
    return [`  ${seconds(at)}  ${observer}, connection ${connection} to node ${node}: ${words}`]
  })
}
