import type { PresentationContext } from '../../engine/event.ts'
import type { UserCache } from '../../auth/user-cache.ts'
import type { Principal } from '../../auth/principal.ts'
import type { AppState } from '../../engine/state.ts'
import { Extended, Fixed } from '../../api/json.ts'
import { toFirstItems } from '../../api/page.ts'
import { redactFields } from '../apps/content-fields.ts'
import { isSubscribed, showAppRef, showAppSummary, type Viewer } from '../apps/represent.ts'
import { summaryOf } from '../users/represent.ts'
import type { ContentEntity } from '../content/kind.ts'
import { toParentRef } from '../content/parent.ts'
import type { About, Mine } from './load.ts'
import { isNone, isOn, mapParts, ownOf, type ContentItem, type Parts } from './parts.ts'
import type { ContentRow } from '../content/schema.ts'
import { showRow } from './row.ts'

const fixedRows = new WeakMap<ContentRow, Fixed>()

/**
 * The members of an item that are equal for all readers, encoded once for as long as the row is in memory: lists read
 * it repeatedly.
 */
function fixRow(row: ContentRow): Fixed {
  let fixed = fixedRows.get(row)
  if (fixed === undefined) fixedRows.set(row, (fixed = new Fixed(showRow(row))))
  return fixed
}

/** The summary of an item in lists; `more` comes in front of it. */
export function showContentSummary(row: ContentRow, isSubscribedTo: boolean, isStarred: boolean, more: object = {}) {
  return new Extended({ ...more, is_starred: isStarred, is_subscribed: isSubscribedTo }, fixRow(row))
}

/** The subject of an item's subscription: a post itself, a comment's parent; null: the app. */
export function subscriptionOf(entity: ContentEntity, { id, parent_id }: ContentRow): number | null {
  return entity === 'post' ? id : parent_id
}

/** By a subscription to a post or file, or, where that is null, to the app. */
export function isSubscribedTo(
  entity: number | null,
  subscribed: ReadonlySet<number>,
  state: AppState,
  { kind, user }: Principal,
): boolean {
  if (entity !== null) return subscribed.has(entity)
  return kind === 'user' && isSubscribed(state, user)
}

/** The data read for one caller along with a page of items. */
export interface Reading {
  parts: ReadonlyMap<number, Parts>
  about: About
  mine: Mine
}

/** A detailed item. The users whom it names (see namesOf), and the namesakes of its app, must be in memory. */
export function showContent(
  entity: ContentEntity,
  item: ContentItem,
  state: AppState,
  { parts, about, mine }: Reading,
  viewer: Viewer,
  row: object = fixRow(item),
) {
  const { by, userCache, origin } = viewer
  const app = showAppSummary(state, viewer)
  // Member by member: spreading the object takes several times as long.
  const { parent, created_by, updated_by, comments } = showAround(entity, item, userCache, origin)
  const head = {
    is_starred: mine.starred.has(item.id),
    is_subscribed: isSubscribedTo(subscriptionOf(entity, item), mine.subscribed, state, by),
    app,
    parent,
    created_by,
    updated_by,
    comments,
  }
  const own = parts.get(item.id)
  if (own === undefined) return new Extended(head, withoutParts, row)
  const context = { app: state.app, userCache, origin }
  const shown = mapParts((part, name) => {
    const value = ownOf(own, part, name)
    if (isNone(value)) return showNone(value)
    const showing = { item, state, app, viewer, about: about[name] }
    return part.show === undefined ? part.present(value, item, context) : part.show(value, showing)
  })
  return new Extended(head, shown, row)
}

/** An empty list is shown in responses, and left out of events. */
function showNone(value: unknown): Fixed | null {
  return Array.isArray(value) ? noItems : null
}

const noItems = new Fixed(toFirstItems([]))

/** The parts of nearly all items, encoded once. */
const withoutParts = new Fixed(mapParts(part => showNone(part.none)))

/** A whole item in events, equal for all readers. */
export function presentContent(entity: ContentEntity, item: ContentItem, context: PresentationContext) {
  const { userCache, origin } = context
  return {
    ...showRow(item),
    app: showAppRef(context.app, origin),
    ...showAround(entity, item, userCache, origin),
    ...(item.parts !== undefined && presentParts(item, item.parts, context)),
  }
}

function presentParts(item: ContentItem, parts: Parts, context: PresentationContext) {
  return mapParts((part, name) => {
    const value = ownOf(parts, part, name)
    const isShown = !isNone(value) || (part.isCounted === true && isOn(part, item))
    return isShown ? part.present(value, item, context) : null
  })
}

/** A whole item without its texts, which receivers of webhooks fetch with a token of their user. */
export function redactContent(entity: ContentEntity, item: ContentItem, context: PresentationContext) {
  return presentContent(entity, { ...withoutWords(item), ...redactFields(item) }, context)
}

/** The item without any text written by users, for webhooks. */
export function withoutWords(item: ContentItem): ContentItem {
  const bare = { ...item, text: null, html: null, plain: null }
  const { parts } = item
  if (parts === undefined) return bare
  const told = mapParts((part, name) => {
    const value = ownOf(parts, part, name)
    return part.withoutWords === undefined ? value : part.withoutWords(value)
  })
  return { ...bare, parts: told as Parts }
}

/** The members of an item beside its row and its parts, equal for all readers. */
function showAround(entity: ContentEntity, item: ContentItem, userCache: UserCache, origin: string) {
  return {
    parent: toParentRef(item),
    created_by: summaryOf(userCache.show(item.created_by), origin),
    updated_by: item.updated_by === null ? null : summaryOf(userCache.show(item.updated_by), origin),
    comments: entity === 'post' ? { count: item.comment_count } : null,
  }
}
