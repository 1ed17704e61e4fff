import { z } from 'zod'
import { byId, event, type AppEvent, type EventType, type PresentationContext } from '../../engine/event.ts'
import { blankMember, withMark, type AppRow, type State } from '../../engine/state.ts'
import type { Db } from '../../postgres/sql.ts'
import { showAppRef } from '../apps/represent.ts'
import { withMessage, type Newest } from '../apps/own/unread.ts'
import { EventRef, TrashedRef } from '../apps/schema.ts'
import { listShown, type ParentType } from '../content/parent.ts'
import { withParts } from './load.ts'
import { namesOf, type ContentItem } from './parts.ts'
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
}

/** The three events that each kind of content has: `message_created`, `message_updated`, `message_deleted`. */
export function contentEvents({ entity, isMarked, store }: ContentKind) {
  const { table } = store
  const load = byId(async (db: Db, ids: number[]) => {
    const rows = await store.findMany(db, ids)
    const items = await withParts(db, await listShown(db, [...rows.values()]))
    return new Map(items.map(item => [item.id, item]))
  })
  const showRef = ({ entity_id, facts }: AppEvent<unknown>, { app, origin }: PresentationContext) => ({
    id: entity_id,
    app: showAppRef(app, origin),
    parent: (facts as unknown as Consequences).parent ?? null,
  })
  const presentWhole = (body: ContentItem, context: PresentationContext) => ({
    [entity]: presentContent(entity, body, context),
  })
  const shared = {
    entity,
    trigger: table,
    load,
    names: ({ body }: { body: ContentItem | null }) => (body === null ? [] : namesOf(body)),
    present: ({ body }: { body: ContentItem | null }, context: PresentationContext) =>
      body && presentWhole(body, context),
    redact: ({ body }: { body: ContentItem | null }, context: PresentationContext) =>
      body === null ? null : { [entity]: redactContent(entity, body, context) },
    forQueue: withoutWords,
    schema: z.object({ [entity]: EventContent }),
  } satisfies Partial<EventType<ContentItem>>
  return {
    created: event<ContentItem>({
      ...shared,
      type: `${entity}_created`,
      isActivity: true,
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
      revert(state, { facts }) {
        if (isMarked) forgetNewest(state, facts as unknown as Consequences | null)
      },
    }),
    updated: event<ContentItem>({
      ...shared,
      type: `${entity}_updated`,
      isActivity: false,
      apply(state, { entity_id, facts, body }) {
        settle(state, facts as unknown as Consequences)
        if (body === null || body.trashed_at !== null) state.dropItem(entity_id)
        else if (body.parent_id === null) state.putItem(toRow(body))
      },
      revert: forgetNewestIf,
      schema: z.object({ [entity]: z.union([EventContent, TrashedRef]) }),
      present(event, context) {
        if (event.body !== null) return presentWhole(event.body, context)
        const { visible } = event.facts as unknown as Consequences
        return visible < 0 ? { [entity]: { ...showRef(event, context), is_trashed: true } } : null
      },
    }),
    deleted: event<null>({
      type: `${entity}_deleted`,
      entity,
      trigger: table,
      isActivity: false,
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
