import type { Work } from '../../../engine/command.ts'
import { blankMember, type Access } from '../../../engine/state.ts'
import { memberAdded } from './events.ts'

/** Numbers that `join` uses: the place in joining order, and the event's rev. */
export const joinNumbers = 2

/** Makes a user a member; settings and read marker stay. */
export function join(work: Work, user: number, access: Access): void {
  const row = work.state.member(user) ?? blankMember(work.app.id, user)
  work.emit(memberAdded, { entity: user, body: { ...row, access, joined_rev: work.nextId() } })
}
