import { z } from 'zod'
import { event, type AppEvent, type PresentationContext } from '../../../engine/event.ts'
import { blankMember, type MemberRow } from '../../../engine/state.ts'
import { loadMembers } from '../../../engine/store.ts'
import { showAppRef } from '../represent.ts'
import { EventApp, MemberItem } from '../schema.ts'
import { showMember } from './represent.ts'

const names = ({ entity_id }: AppEvent<unknown>) => [entity_id]

const shared = {
  entity: 'user' as const,
  isActivity: true,
  names,
  present: presentMember,
  schema: z.object({ app: EventApp, member: MemberItem }),
}

function presentMember(
  { entity_id, body }: AppEvent<MemberRow | null>,
  { app, userCache, origin }: PresentationContext,
) {
  return {
    app: showAppRef(app, origin),
    member: showMember(userCache.show(entity_id), body ?? undefined, { app, origin, access: body?.access ?? 'none' }),
  }
}

export const memberAdded = event<MemberRow>({
  ...shared,
  type: 'member_added',
  load: loadMembers,
  apply(state, { entity_id, body }) {
    if (body === null) return
    // Last in joining order, also where a replay has met the row earlier.
    state.dropMember(entity_id)
    state.putMember(body)
  },
  revert: (state, { entity_id }) => state.dropMember(entity_id),
})

export const memberUpdated = event<MemberRow>({
  ...shared,
  type: 'member_updated',
  load: loadMembers,
  apply(state, { body }) {
    if (body !== null) state.putMember(body)
  },
  revert(state, { entity_id, facts }) {
    const own = state.member(entity_id)
    if (own === undefined) return
    if (own.access === 'none') state.putMember({ ...own, access: 'read' })
    else if (facts?.was_kept_out === true) state.putMember({ ...own, access: 'none' })
  },
})

/** What the row of the member no longer shows: in a replay it may be newer than the event. */
export type RemovedMember = {
  /** True where the member had turned the subscription off. */
  is_unsubscribed?: boolean
  /** True where the member's access was `none`, so that the app was not in the member's lists. */
  was_kept_out?: boolean
}

/**
 * The end of a membership. The user's settings go with it, but for a subscription that was turned off, which stays off.
 */
export const memberRemoved = event<null>({
  ...shared,
  type: 'member_removed',
  apply(state, { entity_id, facts }) {
    if (facts?.is_unsubscribed === true) {
      state.putMember({ ...blankMember(state.app.id, entity_id), is_subscribed: false })
    } else state.dropMember(entity_id)
  },
  revert(state, { entity_id, facts }) {
    const access = facts?.was_kept_out === true ? 'none' : 'read'
    state.putMember({ ...blankMember(state.app.id, entity_id), access })
  },
})

export const events = [memberAdded, memberUpdated, memberRemoved]
