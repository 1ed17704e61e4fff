import type { Work } from '../../../engine/command.ts'
import { blankMember, type Access } from '../../../engine/state.ts'
import { memberAdded } from './events.ts'

/** Numbers that `join` takes: the place in joining order, and the event. */
export const joinNumbers = 2

/** Makes a member of somebody who is none; their settings and read marker stay. */
export function join(work: Work, user: number, access: Access): void {
  const row = work.state.member(user) ?? blankMember(work.app.id, user)
  work.emit(memberAdded, { entity: user, body: { ...row, access, joined_rev: work.nextId() } })
}
