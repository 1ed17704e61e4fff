import { command, type Work } from '../../../engine/command.ts'
import { requireRead } from '../members/access.ts'
import { appMarked } from '../events.ts'
import { isChat } from '../kinds.ts'

/**
 * Moves the caller's read marker to a message of the app (also backwards), or to the newest one. In types without
 * messages only the time is stored. Needs read access; repeating changes nothing.
 */
export const markRead = command(
  'markRead',
  (work: Work, message: number | null) => {
    requireRead(work.state, work.by, work.userCache)
    const own = work.state.member(work.by.user)
    const marked = isChat(work.app.type) ? (message ?? work.app.last_id) : null
    if (isChat(work.app.type) && message === null) work.requireHead()
    if (own?.marked_at && own.marked_id === marked && isChat(work.app.type)) return
    work.emit(appMarked, {
      entity: work.app.id,
      body: null,
      facts: { marked_id: marked, is_marked: true },
    })
  },
  { isPatient: true, commutes: true },
)

/** Removes the caller's read marker. */
export const markUnread = command(
  'markUnread',
  (work: Work) => {
    requireRead(work.state, work.by, work.userCache)
    if (!work.state.member(work.by.user)?.marked_at) return
    work.emit(appMarked, { entity: work.app.id, body: null, facts: { marked_id: null, is_marked: false } })
  },
  { commutes: true },
)
