import { Draft } from '../../draft.ts'
import { applyEvent } from '../../event.ts'
import type { CommandResult, DecidedEntry } from './decide.ts'
import type { FlushParts } from './entries.ts'
import type { Assignment } from './fence.ts'

/**
 * Gives the events of a decision what their commit has assigned: numbers for offsets, the time, and the `prev` of the
 * first. Results get it with them, as they are what the events have made.
 */
export function assign(decision: DecidedEntry, assignment: Omit<Assignment, 'id'> | undefined): void {
  const { draft, events, first } = decision
  if (assignment === undefined || events.length === 0) return
  const { head_rev, number_shift, held_at } = assignment
  events[0]!.prev = head_rev
  if (number_shift === 0 && held_at === null) return
  const last = draft.app.head_rev
  const toNumber = (number: number) => (number >= first && number <= last ? number + number_shift : number)
  for (const event of events) {
    const { kind, created_at, body } = event
    if (held_at !== null && held_at > created_at.getTime()) event.created_at = new Date(held_at)
    event.rev = toNumber(event.rev)
    event.prev = toNumber(event.prev)
    event.entity_id = toNumber(event.entity_id)
    // What the app's rev is after it turns out when the event is applied.
    delete event.app_rev
    if (body !== null) kind.assign?.(body, event.entity_id, event.created_at)
  }
  if (isGapped(decision)) return
  decision.draft = new Draft(draft.base)
  for (const event of events) applyEvent(decision.draft, event)
}

/** True where events of other nodes lie between the state that was decided on and the new events. */
function isGapped({ events, draft }: DecidedEntry): boolean {
  return events[0] !== undefined && events[0].prev !== draft.base.app.head_rev
}

/**
 * Applies the committed decisions to the states and publishes the events. Returns the results for the callers, and whether
 * other nodes had written to the apps.
 */
export function conclude(
  { published, committed, isFollowed }: FlushParts,
  decisions: DecidedEntry[],
): { results: CommandResult[]; hasNews: boolean } {
  const results: CommandResult[] = []
  let hasNews = false
  for (const decision of decisions) {
    const { entry, draft, events, results: own } = decision
    const { actor } = entry
    for (const result of own) results.push(result)
    if (events.length === 0) continue
    if (actor.placed(events[0]!.prev, events.at(-1)!.rev)) hasNews = true
    if (isGapped(decision)) {
      if (isFollowed(actor.id)) actor.hold(events)
    } else {
      published(draft.adopt(events), actor.state)
    }
    committed(events)
  }
  return { results, hasNews }
}
