import { command, type Work } from '../../../engine/command.ts'
import { blankMember, type MemberRow } from '../../../engine/state.ts'
import { NotFound } from '../../../lib/errors.ts'
import { requireRead } from '../members/access.ts'
import { appDeleted, settingsChanged } from '../events.ts'
import { isRemovable } from '../kinds.ts'
import { isSubscribed } from '../represent.ts'
import { isArchived, isHidden } from './unread.ts'
import { WrongKind } from '../schema.ts'

/** The caller's own settings of an app. Absent members stay. */
export interface Settings {
  isPinned?: boolean
  isStarred?: boolean
  isArchived?: boolean
  isSubscribed?: boolean
}

/**
 * Changes the caller's settings: pinned, starred, archived, subscribed. Needs read access; repeating changes nothing.
 */
export const changeSettings = command('changeSettings', (work: Work, settings: Settings) => {
  requireRead(work.state, work.by, work.userCache)
  const row = ownRow(work)
  const changed: MemberRow = {
    ...row,
    pinned_at: toInstant(work, row.pinned_at, settings.isPinned),
    starred_at: toInstant(work, row.starred_at, settings.isStarred),
    archived_id: toArchived(work, row, settings.isArchived),
    is_subscribed: settings.isSubscribed ?? row.is_subscribed,
    subscribed_rev: toSubscribed(work, row, settings.isSubscribed),
  }
  saveSettings(work, row, changed)
})

/**
 * Removes the caller's copy of a private or agent chat: it and its messages are hidden until a new message. When all
 * users in it have removed it, it is deleted. The members must be in memory. 400 for other types.
 */
export const removeForMe = command(
  'removeForMe',
  (work: Work) => {
    requireRead(work.state, work.by, work.userCache)
    if (!isRemovable(work.app)) throw WrongKind({ type: work.app.type })
    const row = ownRow(work)
    if (isHidden(work.app, row) && !mayComeBack(work)) return
    // Ids and revs share one sequence: this hides all messages so far, including trashed ones that may be restored.
    saveSettings(work, row, { ...row, is_removed: true, hidden_id: work.app.head_rev })
    if ([...work.state.members()].some(member => keepsCopy(work, member))) return
    work.emit(appDeleted, { entity: work.app.id, body: { ...work.app, deleted_at: work.now } })
  },
  { maxIds: () => 2 },
)

/**
 * Shows a removed chat in the caller's lists again, without the hidden messages. 404 where the other member has removed
 * it too, which deletes it, or it is in the trash.
 */
export const showAgain = command('showAgain', (work: Work) => {
  if (work.app.deleted_at !== null || work.app.trashed_at !== null) throw NotFound()
  const row = ownRow(work)
  saveSettings(work, row, { ...row, is_removed: false })
})

/**
 * True for another user who still has a copy. Agents never remove theirs, so a chat is not kept for an agent when its
 * users have gone, nor for deleted users; one between agents alone is kept.
 */
function keepsCopy({ app, by, userCache }: Work, member: MemberRow): boolean {
  if (member.user_id === by.user || member.access === null || isHidden(app, member)) return false
  const person = userCache.find(member.user_id)
  return person !== undefined && (!person.is_agent || userCache.find(by.user)?.is_agent === true)
}

function ownRow(work: Work): MemberRow {
  return work.state.member(work.by.user) ?? blankMember(work.app.id, work.by.user)
}

/** The time of a setting: unchanged where it is already set, otherwise now; null where it is removed. */
function toInstant(work: Work, before: Date | null, isSet: boolean | undefined): Date | null {
  if (isSet === undefined) return before
  return isSet ? (before ?? work.now) : null
}

/** Archives up to the newest item by others; a later one brings the app back. */
function toArchived(work: Work, row: MemberRow, isWanted: boolean | undefined): number | null {
  const { app, by } = work
  if (isWanted === undefined) return row.archived_id
  if (!isWanted) return null
  return isArchived(app, by.user, row) && !mayComeBack(work) ? row.archived_id : app.head_rev
}

/** True where an item in the trash may be newer than the hidden ones: hiding again includes it. */
function mayComeBack({ app }: Work): boolean {
  return app.trashed_count > 0
}

/** A new subscription does not cover earlier events; repeating it changes nothing. */
function toSubscribed({ app, state, by }: Work, row: MemberRow, isWanted: boolean | undefined): number | null {
  if (isWanted === undefined || isWanted === isSubscribed(state, by.user)) return row.subscribed_rev
  return isWanted ? app.head_rev : null
}

function saveSettings(work: Work, before: MemberRow, after: MemberRow): void {
  const isSame = Object.keys(after).every(key => after[key as keyof MemberRow] === before[key as keyof MemberRow])
  if (isSame) return
  const wasHidden = isHidden(work.app, before)
  const facts = wasHidden !== isHidden(work.app, after) && { facts: { was_hidden: wasHidden } }
  work.emit(settingsChanged, { entity: work.by.user, body: after, ...facts })
}
