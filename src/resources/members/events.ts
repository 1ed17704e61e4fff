import { event, type AppEvent, type Scene } from '../../actors/event.ts'
import { findMembers, type MemberRow } from '../../actors/state.ts'
import { showAppRef } from '../apps/represent.ts'
import { showMember } from './represent.ts'

const names = ({ entity_id }: AppEvent<unknown>) => [entity_id]

const change = (type: string) =>
  event<MemberRow>({
    type,
    entity: 'user',
    touches: true,
    load: findMembers,
    names,
    apply(state, { body }) {
      if (body !== null) state.putMember(body)
    },
    present: presentMember,
  })

function presentMember({ entity_id, body }: AppEvent<MemberRow | null>, { app, people, origin }: Scene) {
  return {
    app: showAppRef(app, people, origin),
    member: showMember(people.show(entity_id), body ?? undefined, {
      app,
      people,
      origin,
      access: body?.access ?? 'none',
    }),
  }
}

export const memberAdded = change('member_added')
export const memberUpdated = change('member_updated')

/** The end of a membership. Settings of somebody who left go with it. */
export const memberRemoved = event<null>({
  type: 'member_removed',
  entity: 'user',
  touches: true,
  names,
  apply(state, { entity_id }) {
    state.dropMember(entity_id)
  },
  present: presentMember,
})

export const events = [memberAdded, memberUpdated, memberRemoved]
