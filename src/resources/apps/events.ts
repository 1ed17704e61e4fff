import { z } from 'zod'
import { Int, Timestamp } from '../../api/shape.ts'
import { byId, event, type AppEvent, type PresentationContext } from '../../engine/event.ts'
import { blankMember, withMark, type AppRow, type MemberRow } from '../../engine/state.ts'
import { findApps, loadMembers } from '../../engine/store.ts'
import { isChat } from './kinds.ts'
import { namesakes, titleOf } from './naming.ts'
import { showAppRef } from './represent.ts'
import { DeliveredApp, EventApp } from './schema.ts'

const present = (_event: AppEvent, { app, origin }: PresentationContext) => ({ app: showAppRef(app, origin) })

const schema = z.object({ app: EventApp })
const marker = { marked_id: Int.optional(), marked_at: Timestamp.optional() }

/** Takes over all columns but counters and revs, which change with their own events. */
function takeDetails(app: AppRow, body: AppRow): AppRow {
  const { rev, head_rev, guard_rev, head_at, item_count, trashed_count, made_count, last_id, last_by, prior_id } = app
  return {
    ...body,
    rev,
    head_rev,
    guard_rev,
    head_at,
    item_count,
    trashed_count,
    made_count,
    last_id,
    last_by,
    prior_id,
  }
}

const change = (type: string, isActivity: boolean, before: (app: AppRow) => Partial<AppRow> = () => ({})) =>
  event<AppRow>({
    type,
    entity: 'app',
    isActivity,
    load: byId(findApps),
    revert(state) {
      state.app = { ...state.app, ...before(state.app) }
    },
    apply(state, { body }) {
      if (body !== null) state.app = takeDetails(state.app, body)
    },
    present,
    schema,
  })

export const appCreated = change('app_created', true, ({ created_at }) => ({ deleted_at: created_at }))
export const appUpdated = event<AppRow>({
  ...change('app_updated', true),
  perUser: {
    names: namesakes,
    present: (state, user, { app, userCache, origin }) => ({
      app: { ...showAppRef(app, origin), name: titleOf(state, user, userCache) },
    }),
  },
})
export const appTrashed = change('app_trashed', true, () => ({ trashed_at: null }))
export const appRestored = change('app_restored', true, ({ created_at }) => ({ trashed_at: created_at }))
export const appDeleted = change('app_deleted', false, () => ({ deleted_at: null }))

/** The owner left, so ownership passed on; not shown as activity. */
export const ownerChanged = change('owner_changed', false)

interface Marked {
  marked_id: number | null
  is_marked: boolean
}

/**
 * In apps with at least this many members, read markers are not sent to others: that would be messages times members
 * squared.
 */
const receiptMembers = 10

/** A user, the actor, set or removed the read marker. The facts are complete, so nothing is loaded. */
export const appMarked = event<null>({
  type: 'app_marked',
  entity: 'app',
  isActivity: false,
  isGuard: () => false,
  trigger: 'apps',
  apply(state, { actor_id, facts, created_at }) {
    const { marked_id, is_marked } = facts as unknown as Marked
    const row = state.member(actor_id) ?? blankMember(state.app.id, actor_id)
    state.putMember(withMark(row, marked_id, is_marked ? created_at : null))
  },
  revert(state, { actor_id }) {
    const own = state.member(actor_id)
    if (own !== undefined) state.putMember({ ...own, marked_id: own.marked_id === null ? 0 : null })
  },
  schema: schema.extend(marker),
  payload: z.object({ app: DeliveredApp, ...marker }),
  isBroadcast: ({ app, memberCount }) => app.access === 'none' && memberCount < receiptMembers,
  present({ facts, created_at }, { app, origin }) {
    const { marked_id, is_marked } = facts as unknown as Marked
    // As members show it.
    const marked_at = is_marked && isChat(app.type) ? created_at : null
    return { app: showAppRef(app, origin), marked_id, marked_at }
  },
})

/**
 * Settings that only their user sees: pinned, archived, removed, subscribed. Not sent to the app's clients. The facts
 * say whether the app was hidden before, where that has changed.
 */
export const settingsChanged = event<MemberRow>({
  type: 'settings_changed',
  entity: 'user',
  isActivity: false,
  // A message to an app that members have removed records the newest one before it.
  isGuard: ({ body, facts }) => body?.is_removed === true || facts?.was_hidden !== undefined,
  load: loadMembers,
  apply(state, { body }) {
    if (body !== null) state.putMember(body)
  },
  revert(state, { entity_id, facts }) {
    const own = state.member(entity_id)
    if (own === undefined || facts?.was_hidden === undefined) return
    state.putMember({ ...own, is_removed: facts.was_hidden === true })
  },
  isBroadcast: () => false,
  present,
  schema,
})

export const events = [
  appCreated,
  appUpdated,
  appTrashed,
  appRestored,
  appDeleted,
  ownerChanged,
  appMarked,
  settingsChanged,
]
