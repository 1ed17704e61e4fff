import { command, type Work } from '../../actors/command.ts'
import { blankMember, type MemberRow } from '../../actors/state.ts'
import { requireRead } from '../members/access.ts'
import { appDeleted, settingsChanged } from './events.ts'
import { isHidden, newestByOthers } from './unread.ts'
import { WrongKind } from './schema.ts'

/** What a user sets about an app for themselves alone. Absent members stay as they are. */
export interface Settings {
  isPinned?: boolean
  isArchived?: boolean
  isSubscribed?: boolean
}

/** Pins, archives, subscribes or undoes it, for the caller. Needs read access; repeating changes nothing. */
export const changeSettings = command('changeSettings', (work: Work, settings: Settings) => {
  requireRead(work.state, work.by, work.people)
  const row = ownRow(work)
  const changed: MemberRow = {
    ...row,
    pinned_at: settings.isPinned === undefined ? row.pinned_at : settings.isPinned ? (row.pinned_at ?? work.now) : null,
    archived_id: toArchived(work, row, settings.isArchived),
    is_subscribed: settings.isSubscribed ?? row.is_subscribed,
  }
  saveSettings(work, row, changed)
})

/**
 * Removes the caller's copy of a private or agent chat: it and its messages so far are hidden until somebody writes
 * again. When everybody in it has removed it, nobody can see it any more and it is deleted. 400 for other types.
 */
export const removeForMe = command(
  'removeForMe',
  (work: Work) => {
    requireRead(work.state, work.by, work.people)
    if (work.app.type !== 'private_chat' && work.app.type !== 'agent_chat') throw WrongKind({ type: work.app.type })
    const row = ownRow(work)
    const removed = { ...row, is_removed: true, hidden_id: work.app.last_id }
    saveSettings(work, row, removed)
    const others = [...work.state.members()].filter(member => member.user_id !== work.by.user && member.access !== null)
    if (others.some(other => !isHidden(work.app, other) && !work.people.find(other.user_id)?.is_agent)) return
    work.emit(appDeleted, { entity: work.app.id, body: { ...work.app, deleted_at: work.now } })
  },
  { numbers: () => 2 },
)

/** Brings a removed chat back into the caller's lists, still without the messages that were hidden. */
export const showAgain = command('showAgain', (work: Work) => {
  const row = ownRow(work)
  saveSettings(work, row, { ...row, is_removed: false })
})

function ownRow(work: Work): MemberRow {
  return work.state.member(work.by.user) ?? blankMember(work.app.id, work.by.user)
}

function toArchived(work: Work, row: MemberRow, isArchived: boolean | undefined): number | null {
  if (isArchived === undefined) return row.archived_id
  return isArchived ? (newestByOthers(work.app, work.by.user) ?? 0) : null
}

function saveSettings(work: Work, before: MemberRow, after: MemberRow): void {
  const isSame = Object.keys(after).every(key => after[key as keyof MemberRow] === before[key as keyof MemberRow])
  if (!isSame) work.emit(settingsChanged, { entity: work.by.user, body: after })
}
