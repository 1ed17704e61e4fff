import { command, type Work } from '../../../engine/command.ts'
import { blankMember, type MemberRow } from '../../../engine/state.ts'
import { NotFound } from '../../../lib/errors.ts'
import { requireRead } from '../members/access.ts'
import { appDeleted, settingsChanged } from '../events.ts'
import { isRemovable } from '../kinds.ts'
import { isSubscribed } from '../represent.ts'
import { isArchived, isHidden } from './unread.ts'
import { WrongKind } from '../schema.ts'

/** What a user sets about an app for themselves alone. Absent members stay as they are. */
export interface Settings {
  isPinned?: boolean
  isStarred?: boolean
  isArchived?: boolean
  isSubscribed?: boolean
}

/** Pins, stars, archives, subscribes or undoes it, for the caller. Needs read access; repeating changes nothing. */
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
 * Removes the caller's copy of a private or agent chat: it and its messages so far are hidden until somebody writes
 * again. When everybody in it has removed it, nobody can see it any more and it is deleted. The members must be in
 * memory. 400 for other types.
 */
export const removeForMe = command(
  'removeForMe',
  (work: Work) => {
    requireRead(work.state, work.by, work.userCache)
    if (!isRemovable(work.app.type)) throw WrongKind({ type: work.app.type })
    const row = ownRow(work)
    if (isHidden(work.app, row) && !mayComeBack(work)) return
    // Ids and revs are of one line: this hides all messages so far, those in the trash too, should they come back.
    saveSettings(work, row, { ...row, is_removed: true, hidden_id: work.app.head_rev })
    if ([...work.state.members()].some(member => keepsCopy(work, member))) return
    work.emit(appDeleted, { entity: work.app.id, body: { ...work.app, deleted_at: work.now } })
  },
  { maxIds: () => 2 },
)

/**
 * Brings a removed chat back into the caller's lists, still without the messages that were hidden. 404 for one that the
 * other member has removed as well by now, which deletes it, or that is in the trash.
 */
export const showAgain = command('showAgain', (work: Work) => {
  if (work.app.deleted_at !== null || work.app.trashed_at !== null) throw NotFound()
  const row = ownRow(work)
  saveSettings(work, row, { ...row, is_removed: false })
})

/**
 * Somebody other than the caller who still has a copy. Agents do not remove theirs, so a chat is not kept for them when
 * its people have gone, nor for people who were deleted; one between agents alone is theirs.
 */
function keepsCopy({ app, by, userCache }: Work, member: MemberRow): boolean {
  if (member.user_id === by.user || member.access === null || isHidden(app, member)) return false
  const person = userCache.find(member.user_id)
  return person !== undefined && (!person.is_agent || userCache.find(by.user)?.is_agent === true)
}

function ownRow(work: Work): MemberRow {
  return work.state.member(work.by.user) ?? blankMember(work.app.id, work.by.user)
}

/** When something was set: now, unless it is already; null where it no longer is. */
function toInstant(work: Work, before: Date | null, isSet: boolean | undefined): Date | null {
  if (isSet === undefined) return before
  return isSet ? (before ?? work.now) : null
}

/** Everything so far is archived; what somebody else writes from now on brings the app back. */
function toArchived(work: Work, row: MemberRow, isWanted: boolean | undefined): number | null {
  const { app, by } = work
  if (isWanted === undefined) return row.archived_id
  if (!isWanted) return null
  return isArchived(app, by.user, row) && !mayComeBack(work) ? row.archived_id : app.head_rev
}

/** Something in the trash may be newer than what was hidden so far: to hide all once more is to hide that as well. */
function mayComeBack({ app }: Work): boolean {
  return app.trashed_count > 0
}

/** Who is subscribed from now on is told of nothing before; choosing it once more changes nothing. */
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
