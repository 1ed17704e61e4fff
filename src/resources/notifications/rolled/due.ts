import type { UserCache } from '../../../auth/user-cache.ts'
import type { Item } from '../../../engine/recent.ts'
import type { AppState, MemberRow } from '../../../engine/state.ts'
import type { Tx } from '../../../postgres/sql.ts'
import { isSubscribed } from '../../apps/represent.ts'
import { isUnread } from '../../apps/own/unread.ts'
import type { Cursor } from '../processing/backlog.ts'
import { RecipientBatch } from '../projection/recipient-batch.ts'
import { mayBeNotified, nameFor, usersInTitle } from '../projection/context.ts'
import { portion, toDueAt } from '../processing/pace.ts'
import type { Draft } from '../schema.ts'
import { toSnippet } from '../text.ts'
import { listUnread, type Candidate, type Unread } from './store.ts'
import { templates } from './text.ts'

/** In apps with up to this many members, all are checked each time. A guess: it takes a millisecond. */
export const fewMembers = 500

/** An app to check. The state must be as new as the app's events. */
export interface DueApp {
  state: AppState
  cursor: Cursor
  /**
   * True: check all members, however many. False: check only members who had read everything at the last check; the
   * others have been notified, unless they marked that as read without reading the messages. Evaluated at the check.
   */
  isWhole: () => boolean
}

interface DueParts {
  tx: Tx
  userCache: UserCache
  /** Later messages have not been unread for long enough. */
  before: Date
  now: Date
}

/** The result of checking an app. */
export interface CheckedApp {
  /** Says when to check again. */
  cursor: Cursor
  drafts: Draft[]
}

/**
 * Finds users who have not read a message for some time and were not notified of it, and drafts their notifications: in
 * as many of the apps, in order, as fit into one transaction.
 */
export async function draftUnread(apps: DueApp[], parts: DueParts): Promise<CheckedApp[]> {
  const { tx, userCache, before } = parts
  const checks: Check[] = []
  let count = 0
  for (const app of apps) {
    if (count >= portion) break
    const check = toCheck(app)
    count += check.next.length
    checks.push(check)
  }
  await userCache.load(checks.flatMap(({ next }) => next.map(({ user }) => user)))
  const asked = checks.flatMap(({ state, next }) =>
    next.filter(({ user, after }) => mayBeNotified({ state, userCache }, user, after + 1)),
  )
  const unread = asked.length === 0 ? [] : await listUnread(tx, asked, before)
  await userCache.load([
    ...checks.flatMap(({ state }) => usersInTitle(state)),
    ...unread.map(({ created_by }) => created_by),
  ])
  const ofApps = Map.groupBy(unread, ({ app_id }) => app_id)
  return checks.map(check => toCheckedApp(check, ofApps.get(check.state.app.id) ?? [], parts))
}

/** An app, and its next batch of users. */
interface Check extends DueApp {
  next: Candidate[]
  /** Users after this one are left; null where none are. */
  last: number | null
}

function toCheck({ state, cursor, isWhole }: DueApp): Check {
  const batch = new RecipientBatch(cursor.rolled_to)
  const waiting = new Map(listCandidates(state, cursor, isWhole()).map(candidate => [candidate.user, candidate]))
  const next = Array.from(batch.next(waiting.keys()), user => waiting.get(user)!)
  return { state, cursor, isWhole, next, last: batch.last }
}

function toCheckedApp(
  { state, cursor, last }: Check,
  unread: Unread[],
  { userCache, before, now }: DueParts,
): CheckedApp {
  const drafts = unread.map(row => toDraft(row, { state, userCache }))
  // Where users are left, or some messages are too new, the app is checked again.
  if (last !== null) return { drafts, cursor: { ...cursor, rolled_to: last } }
  const { settled, isAll } = findNewestSettled(state, before)
  const later = toDueAt(now, now.getTime() - before.getTime())
  return { drafts, cursor: { ...cursor, due_at: isAll ? null : later, rolled_id: settled, rolled_to: 0 } }
}

type DueContext = Parameters<typeof nameFor>[0]

function toDraft({ app_id, user_id, message_id, created_by, created_at, plain }: Unread, context: DueContext): Draft {
  const name = context.userCache.show(created_by).display_name
  const isPrivate = context.state.app.type === 'private_chat' || context.state.app.type === 'agent_chat'
  const snippet = toSnippet(plain)
  return {
    user_id,
    app_id,
    type: 'activity',
    action: 'message_created',
    actor_ids: [created_by],
    template: isPrivate ? templates.one : templates.oneInApp,
    args: isPrivate ? [name, snippet] : [name, nameFor(context, user_id), snippet],
    link_type: 'message',
    link_id: null,
    parent_type: null,
    parent_id: null,
    metadata: null,
    created_at,
    from_id: message_id,
  }
}

/** Subscribers with unread messages, by the state in memory. */
function listCandidates(state: AppState, { rolled_id }: Cursor, isWhole: boolean): Candidate[] {
  const candidates: Candidate[] = []
  for (const member of state.members()) {
    const { user_id: user } = member
    if (!isUnread(state.app, user, member)) continue
    const after = lastOf(member)
    if (!isWhole && after < rolled_id) continue
    if (isSubscribed(state, user)) candidates.push({ app: state.app.id, user, after })
  }
  return candidates
}

/** The last message that counts as read or hidden for a member. Ids and revs share one sequence. */
function lastOf({ marked_id, hidden_id, joined_rev, subscribed_rev }: MemberRow): number {
  return Math.max(marked_id ?? 0, hidden_id ?? 0, joined_rev ?? 0, subscribed_rev ?? 0)
}

/**
 * The newest message that is not too new, and true where that holds for all; a bound where memory has only newer ones.
 */
function findNewestSettled({ recent, app }: AppState, before: Date): { settled: number; isAll: boolean } {
  // Items of chats are messages, which have a time.
  const items = recent.items as readonly (Item & { created_at: Date })[]
  const at = items.findLastIndex(({ created_at }) => created_at <= before)
  if (items.length === 0 || at === items.length - 1) return { settled: app.last_id ?? 0, isAll: true }
  return { settled: at === -1 ? items[0]!.id - 1 : items[at]!.id, isAll: false }
}
