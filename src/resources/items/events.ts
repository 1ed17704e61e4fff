import { z } from 'zod'
import { byId, event, type AppEvent, type EventType, type PresentationContext } from '../../engine/event.ts'
import { blankMember, withMark, type AppRow, type State } from '../../engine/state.ts'
import type { Db } from '../../postgres/sql.ts'
import { showAppRef } from '../apps/represent.ts'
import { withMessage, type Newest } from '../apps/own/unread.ts'
import { EventRef, TrashedRef } from '../apps/schema.ts'
import { listShown, type ParentType } from '../content/parent.ts'
import { withParts } from './load.ts'
import { namesOf, noParts, type ContentItem } from './parts.ts'
import { presentContent, redactContent, withoutWords } from './represent.ts'
import type { ContentKind } from '../content/kind.ts'
import type { ContentRow } from '../content/schema.ts'
import { EventContent } from './schema.ts'

/** The further effects of a creation, update or deletion, beside the item itself. */
export interface Consequences {
  /** Changes of the counts of visible and trashed items. */
  visible: number
  trashed: number
  /** Set where the newest messages of the app have changed. */
  newest?: Newest
  /** The newest message before, 0 for none. Set where members have removed the app, whose lists depend on it. */
  before?: number
  /** Set for a comment on a post or file, which then counts it. */
  parent?: { type: ParentType; id: number }
  /** The parent's number of comments after the event: a replay that counted again would count twice. */
  comments?: number
  /** Set where the text names the app. */
  title?: string
  /** The item's own counts, where it was not created by the event. */
  counts?: ItemCounts
}

/** The counts that an item is shown with. Numbers of votes are by option, without those for which nobody has voted. */
export interface ItemCounts {
  reactions: number
  comments: number
  votes: Record<number, number>
}

/** What an item counts, for the facts of an event. */
export function countsOf({ reaction_count, comment_count, parts }: ContentItem): ItemCounts {
  const voted = parts?.options.filter(({ vote_count }) => vote_count > 0) ?? []
  const votes = Object.fromEntries(voted.map(({ id, vote_count }) => [id, vote_count]))
  return { reactions: reaction_count, comments: comment_count, votes }
}

const noCounts: ItemCounts = { reactions: 0, comments: 0, votes: {} }

/** The item as a later reader finds it, with other counts. Reactions that are newer than the event are left out. */
function withCounts(item: ContentItem, { reactions, comments, votes }: ItemCounts, rev: number): ContentItem {
  const counted = { ...item, reaction_count: reactions, comment_count: comments }
  // All reactions may be gone since, and with them the only part.
  const parts = item.parts ?? (reactions > 0 ? noParts : undefined)
  if (parts === undefined) return counted
  counted.parts = {
    ...parts,
    options: parts.options.map(option => ({ ...option, vote_count: votes[option.id] ?? 0 })),
    reactions: parts.reactions.filter(({ id }) => id < rev),
  }
  return counted
}

/** The three events that each kind of content has: `message_created`, `message_updated`, `message_deleted`. */
export function contentEvents({ entity, isMarked, store }: ContentKind) {
  const { table } = store
  const load = byId(async (db: Db, ids: number[]) => {
    const rows = await store.findMany(db, ids)
    const items = await withParts(db, await listShown(db, [...rows.values()]))
    return new Map(items.map(item => [item.id, item]))
  })
  const showRef = (event: AppEvent<unknown>, { app, origin }: PresentationContext) => ({
    id: event.entity_id,
    app: showAppRef(app, origin),
    parent: showParent(event),
  })
  const presentWhole = (event: AppEvent<unknown>, shown: object) => ({
    [entity]: { ...shown, parent: showParent(event) },
  })
  const shared = {
    entity,
    trigger: table,
    load,
    names: ({ body }: { body: ContentItem | null }) => (body === null ? [] : namesOf(body)),
    present: (event: AppEvent<ContentItem>, context: PresentationContext) =>
      event.body && presentWhole(event, presentContent(entity, event.body, context)),
    redact: (event: AppEvent<ContentItem>, context: PresentationContext) =>
      event.body && presentWhole(event, redactContent(entity, event.body, context)),
    forQueue: withoutWords,
    countAsOf: (item, { facts, rev }) => {
      const { counts } = (facts ?? {}) as Partial<Consequences>
      return counts === undefined ? item : withCounts(item, counts, rev)
    },
    schema: z.object({ [entity]: EventContent }),
  } satisfies Partial<EventType<ContentItem>>
  return {
    created: event<ContentItem>({
      ...shared,
      type: `${entity}_created`,
      isActivity: true,
      countAsOf: (item, { rev }) => withCounts(item, noCounts, rev),
      // Where the text has named the app, the next one does not.
      isGuard: ({ facts }) => facts?.title !== undefined,
      apply(state, { entity_id, actor_id, created_at, facts, body }) {
        const consequences = facts as unknown as Consequences | null
        if (consequences?.parent !== undefined) return countComments(state, consequences)
        const { app } = state
        if (isMarked) takeNewest(app, withMessage(app, entity_id, actor_id))
        app.name = consequences?.title ?? app.name
        app.item_count++
        app.made_count++
        if (body !== null) state.putItem(toRow(body))
        if (isMarked) markOwn(state, actor_id, entity_id, created_at)
      },
      assign(body, id, at) {
        body.id = id
        body.created_at = at
      },
      revert(state, { facts }) {
        if (isMarked) forgetNewest(state, facts as unknown as Consequences | null)
      },
    }),
    updated: event<ContentItem>({
      ...shared,
      type: `${entity}_updated`,
      isActivity: false,
      isGuard: () => false,
      apply(state, { entity_id, facts, body }) {
        settle(state, facts as unknown as Consequences)
        if (body === null || body.trashed_at !== null) state.dropItem(entity_id)
        else if (body.parent_id === null) state.putItem(toRow(body))
      },
      revert: forgetNewestIf,
      schema: z.object({ [entity]: z.union([EventContent, TrashedRef]) }),
      present(event, context) {
        if (event.body !== null) return shared.present(event, context)
        const { visible } = event.facts as unknown as Consequences
        return visible < 0 ? { [entity]: { ...showRef(event, context), is_trashed: true } } : null
      },
    }),
    deleted: event<null>({
      type: `${entity}_deleted`,
      entity,
      trigger: table,
      isActivity: false,
      isGuard: () => false,
      apply(state, { entity_id, facts }) {
        settle(state, facts as unknown as Consequences)
        state.dropItem(entity_id)
      },
      revert: forgetNewestIf,
      present: (event, context) => ({ [entity]: showRef(event, context) }),
      schema: z.object({ [entity]: EventRef }),
    }),
  }
}

/**
 * The parent of a comment with its number of comments right after the event: a client cannot count them itself, as a
 * replay leaves out comments that are gone by then, and not their deletion.
 */
function showParent({ facts }: AppEvent<unknown>) {
  const { parent, comments = null } = (facts ?? {}) as Partial<Consequences>
  return parent === undefined ? null : { ...parent, comments: { count: comments } }
}

/** The row for the state: parts change without events of the item's row, so memory does not hold them. */
function toRow(item: ContentItem): ContentRow {
  if (item.parts === undefined) return item
  const { parts: _, ...row } = item
  return row
}

/** Authors have seen their own items: otherwise their own message would count as unread. */
function markOwn(state: State, author: number, id: number, at: Date): void {
  if (author <= 0) return
  const own = state.member(author) ?? blankMember(state.app.id, author)
  state.putMember(withMark(own, id, at))
}

function settle(state: State, consequences: Consequences): void {
  const { visible, trashed, newest, parent } = consequences
  if (parent !== undefined) return countComments(state, consequences)
  const { app } = state
  if (newest !== undefined) takeNewest(app, newest)
  app.item_count += visible
  app.trashed_count += trashed
}

function takeNewest(app: AppRow, { last_id, last_by, prior_id }: Newest): void {
  app.last_id = last_id
  app.last_by = last_by
  app.prior_id = prior_id
}

/** No message has the id 0: where the newest messages before are unknown, it differs from all. */
function forgetNewest(state: State, consequences: Consequences | null): void {
  state.app = { ...state.app, last_id: consequences?.before ?? 0, prior_id: 0 }
}

function forgetNewestIf(state: State, { facts }: { facts: Record<string, unknown> | null }): void {
  if (facts?.newest !== undefined) forgetNewest(state, facts as unknown as Consequences)
}

function countComments(state: State, { parent, comments }: Consequences): void {
  if (parent === undefined || comments === undefined) return
  state.changeItem(parent.id, item => ({ ...item, comment_count: comments }) as ContentRow)
}
