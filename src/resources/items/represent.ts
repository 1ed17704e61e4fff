import type { PresentationContext } from '../../engine/event.ts'
import type { UserCache } from '../../auth/user-cache.ts'
import type { Principal } from '../../auth/principal.ts'
import type { AppState } from '../../engine/state.ts'
import { Extended, Fixed, verbatim } from '../../api/json.ts'
import { toFirstItems } from '../../api/page.ts'
import { isSubscribed, showAppRef, showAppSummary, type Viewer } from '../apps/represent.ts'
import { summaryOf } from '../users/represent.ts'
import type { ContentEntity } from '../content/kind.ts'
import { subscriptionOf, type Mine } from './mine.ts'
import { toParentRef } from '../content/parent.ts'
import type { About } from './load.ts'
import { isNone, mapParts, ownOf, type ContentItem, type Parts } from './parts.ts'
import type { ContentRow } from '../content/schema.ts'
import { htmlOf, plainOf } from '../content/text/kept.ts'

const fixedRows = new WeakMap<ContentRow, Fixed>()

/** What of an item depends on nobody, written once for as long as the row is in memory: lists read it again and again. */
function fixRow(row: ContentRow): Fixed {
  let fixed = fixedRows.get(row)
  if (fixed === undefined) fixedRows.set(row, (fixed = new Fixed(showRow(row))))
  return fixed
}

/** The same for a row that is shown once: to whoever wrote it. */
export function showRow(row: ContentRow) {
  return {
    id: row.id,
    text: row.text,
    html: htmlOf(row),
    plain: plainOf(row),
    metadata: verbatim(row.metadata),
    tags: row.tags,
    is_trashed: row.trashed_at !== null,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

/** The summary item of lists; `more` comes in front of it. */
export function showContentSummary(row: ContentRow, isSubscribedTo: boolean, isStarred: boolean, more: object = {}) {
  return new Extended({ ...more, is_starred: isStarred, is_subscribed: isSubscribedTo }, fixRow(row))
}

/** By a subscription to a post or file, or where that is null to the app. */
export function isSubscribedTo(
  entity: number | null,
  subscribed: ReadonlySet<number>,
  state: AppState,
  { kind, user }: Principal,
): boolean {
  if (entity !== null) return subscribed.has(entity)
  return kind === 'user' && isSubscribed(state, user)
}

/** What was read for one caller along with a page of items. */
export interface Reading {
  parts: ReadonlyMap<number, Parts>
  about: About
  mine: Mine
}

/** The detailed item. Whom it names (see namesOf) and the namesakes of its app must be in memory. */
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
  // Member by member: spreading what is around it takes several times as long.
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

/** Of a list that has nothing in it answers say so, and events leave it out. */
function showNone(value: unknown): Fixed | null {
  return Array.isArray(value) ? noItems : null
}

const noItems = new Fixed(toFirstItems([]))

/** What nearly all items show of their parts, written once. */
const withoutParts = new Fixed(mapParts(part => showNone(part.none)))

/** The whole item as events carry it: one text for everybody. */
export function presentContent(entity: ContentEntity, item: ContentItem, context: PresentationContext) {
  const { userCache, origin } = context
  return {
    ...showRow(item),
    app: showAppRef(context.app, userCache, origin),
    ...showAround(entity, item, userCache, origin),
    ...(item.parts !== undefined && presentParts(item, item.parts, context)),
  }
}

function presentParts(item: ContentItem, parts: Parts, context: PresentationContext) {
  return mapParts((part, name) => {
    const value = ownOf(parts, part, name)
    return isNone(value) ? null : part.present(value, item, context)
  })
}

/** The same without what was written: webhook receivers fetch that with a token of their user. */
export function redactContent(entity: ContentEntity, item: ContentItem, context: PresentationContext) {
  const presented = presentContent(entity, withoutWords(item), context)
  return { ...presented, metadata: verbatim(redactMetadata(item.metadata)) }
}

/** What nobody wrote: all that webhooks are told. */
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

/** Without what a page tells an agent, and what an agent wants to call a tool with: both are words. */
function redactMetadata(metadata: ContentRow['metadata']): ContentRow['metadata'] {
  if (metadata === null || (metadata.instructions === undefined && metadata.tool_approval === undefined))
    return metadata
  const { instructions: _, tool_approval: approval, ...rest } = metadata
  if (typeof approval !== 'object' || approval === null) return rest
  const { arguments: __, ...asked } = approval as Record<string, unknown>
  return { ...rest, tool_approval: asked }
}

/** What an item has beside its row and its parts, and is the same for everybody. */
function showAround(entity: ContentEntity, item: ContentItem, userCache: UserCache, origin: string) {
  return {
    parent: toParentRef(item),
    created_by: summaryOf(userCache.show(item.created_by), origin),
    updated_by: item.updated_by === null ? null : summaryOf(userCache.show(item.updated_by), origin),
    comments: entity === 'post' ? { count: item.comment_count } : null,
  }
}
