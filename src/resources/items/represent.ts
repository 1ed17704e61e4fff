import type { PresentationContext } from '../../engine/event.ts'
import type { UserCache } from '../../auth/user-cache.ts'
import type { Principal } from '../../auth/principal.ts'
import type { AppState } from '../../engine/state.ts'
import { Extended, Fixed, verbatim } from '../../api/json.ts'
import { toFirstItems } from '../../api/page.ts'
import { isSubscribed, showAppRef, showAppSummary, type Viewer } from '../apps/represent.ts'
import { showEmbed, embedWithoutWords } from '../embeds/represent.ts'
import { presentCitedFile, presentFile, showFile } from '../files/represent.ts'
import { showMeeting } from '../meetings/represent.ts'
import { redactOption, showOption, showOptions } from '../options/represent.ts'
import { showReaction } from '../reactions/represent.ts'
import { summaryOf } from '../users/represent.ts'
import { showAnnotation, type AnnotationApps } from './annotations.ts'
import type { ContentEntity } from '../content/kind.ts'
import { subscriptionOf, type Mine } from './mine.ts'
import { toParentRef } from '../content/parent.ts'
import { noParts, type ContentItem, type Parts } from './parts.ts'
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
  mine: Mine
  /** The apps of their annotations. */
  cited: AnnotationApps
}

/** The detailed item. Whom it names (see namesOf) and the namesakes of its app must be in memory. */
export function showContent(
  entity: ContentEntity,
  item: ContentItem,
  state: AppState,
  { parts, mine, cited }: Reading,
  viewer: Viewer,
  row: object = fixRow(item),
) {
  const { by, userCache, origin } = viewer
  const own = parts.get(item.id)
  const app = showAppSummary(state, viewer)
  const { parent, created_by, updated_by, embed, meeting, reactions, comments } = showAround(
    entity,
    item,
    own,
    userCache,
    origin,
  )
  // Member by member: spreading what is around it takes several times as long.
  const head = {
    is_starred: mine.starred.has(item.id),
    is_subscribed: isSubscribedTo(subscriptionOf(entity, item), mine.subscribed, state, by),
    app,
    parent,
    created_by,
    updated_by,
    embed,
    meeting,
    reactions: reactions ?? noItems,
    comments,
    annotations: toPart((own?.annotations ?? []).flatMap(file => showAnnotation(file, cited, viewer))) ?? noItems,
    attachments: toPart((own?.attachments ?? []).map(file => ({ ...showFile(file, viewer, mine), app }))) ?? noItems,
    options: toPart(showOptions(own?.options ?? [], mine.votes.get(item.id))) ?? noItems,
  }
  return new Extended(head, row)
}

/** A list inside an item that has nothing in it, as nearly all are: answers say so, events leave it out. */
const noItems = new Fixed(toFirstItems([]))

/** The whole item as events carry it: one text for everybody. */
export function presentContent(entity: ContentEntity, item: ContentItem, context: PresentationContext) {
  const { userCache, origin } = context
  return {
    ...showRow(item),
    app: showAppRef(context.app, userCache, origin),
    ...showAround(entity, item, item.parts, userCache, origin),
    attachments: toPart((item.parts?.attachments ?? []).map(file => presentFile(file, context))),
    options: toPart((item.parts?.options ?? []).map(showOption)),
    annotations: toPart((item.parts?.annotations ?? []).map(file => presentCitedFile(file, context))),
  }
}

/** The same without what was written: webhook receivers fetch that with a token of their user. */
export function redactContent(entity: ContentEntity, item: ContentItem, context: PresentationContext) {
  const { options, embed } = item.parts ?? noParts
  return {
    ...presentContent(entity, item, context),
    text: null,
    html: null,
    plain: null,
    metadata: verbatim(redactMetadata(item.metadata)),
    options: toPart(options.map(redactOption)),
    embed: embed && showEmbed(embedWithoutWords(embed), context.origin),
    annotations: null,
  }
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

/** What an item has beside its row and is the same for everybody. */
function showAround(
  entity: ContentEntity,
  item: ContentItem,
  parts: Parts = noParts,
  userCache: UserCache,
  origin: string,
) {
  const { reactions, embed, meeting } = parts
  return {
    parent: toParentRef(item),
    created_by: summaryOf(userCache.show(item.created_by), origin),
    updated_by: item.updated_by === null ? null : summaryOf(userCache.show(item.updated_by), origin),
    embed: embed && showEmbed(embed, origin),
    meeting: meeting && showMeeting(meeting),
    reactions: toPart(
      reactions.map(reaction => showReaction(reaction, userCache, origin)),
      item.reaction_count,
    ),
    comments: entity === 'post' ? { count: item.comment_count } : null,
  }
}

/** A list inside an item; null where it is empty, because nearly all are. */
function toPart<Shown>(shown: Shown[], count = shown.length) {
  return shown.length === 0 ? null : toFirstItems(shown, count)
}
