import { event, type EventType, type Scene } from '../../actors/event.ts'
import { blankMember, type AppRow, type State } from '../../actors/state.ts'
import { showAppRef } from '../apps/represent.ts'
import { withMessage } from '../apps/unread.ts'
import { presentContent, redactContent } from './represent.ts'
import type { ContentRow } from './schema.ts'
import type { ContentStore, ContentTable } from './store.ts'

export interface ContentEvents {
  created: EventType<ContentRow>
  updated: EventType<ContentRow>
  deleted: EventType<null>
}

interface ContentEventOptions {
  entity: 'message' | 'post' | 'comment'
  table: ContentTable
  isMarked: boolean
  store: ContentStore
}

export type Newest = Pick<AppRow, 'last_id' | 'last_by' | 'prior_id'>

/** What an update or deletion did beyond the item itself. */
interface Consequences {
  /** How the counts of visible and trashed items moved. */
  visible: number
  trashed: number
  /** Set where the newest messages of the app are others now. */
  newest?: Newest
  /** Set for a comment on something else than an app: then it counts there. */
  parent?: { type: 'post' | 'file'; id: number }
}

/** The three events that each kind of content has: `message_created`, `message_updated`, `message_deleted`. */
export function contentEvents({ entity, table, isMarked, store }: ContentEventOptions): ContentEvents {
  const shared = {
    entity,
    trigger: table,
    load: store.findMany,
    names: ({ body }: { body: ContentRow | null }) => (body === null ? [] : namesOf(body)),
    present: ({ body }: { body: ContentRow | null }, scene: Scene) =>
      body === null ? null : { [entity]: presentContent(body, scene) },
    redact: ({ body }: { body: ContentRow | null }, scene: Scene) =>
      body === null ? null : { [entity]: redactContent(body, scene) },
  }
  return {
    created: event<ContentRow>({
      ...shared,
      type: `${entity}_created`,
      touches: true,
      apply(state, { entity_id, actor_id, created_at, facts, body }) {
        const consequences = facts as unknown as Pick<Consequences, 'parent'> | null
        if (consequences?.parent !== undefined) return countComment(state, consequences.parent, 1)
        const { app } = state
        const newest = isMarked ? withMessage(app, entity_id, actor_id) : {}
        state.app = { ...app, ...newest, item_count: app.item_count + 1, made_count: app.made_count + 1 }
        if (body !== null && body.trashed_at === null) state.putItem(body)
        if (isMarked) markOwn(state, actor_id, entity_id, created_at)
      },
    }),
    updated: event<ContentRow>({
      ...shared,
      type: `${entity}_updated`,
      touches: false,
      apply(state, { entity_id, facts, body }) {
        settle(state, facts as unknown as Consequences)
        if (body === null || body.trashed_at !== null) state.dropItem(entity_id)
        else if (body.parent_id === null) state.putItem(body)
      },
    }),
    deleted: event<null>({
      type: `${entity}_deleted`,
      entity,
      trigger: table,
      touches: false,
      apply(state, { entity_id, facts }) {
        settle(state, facts as unknown as Consequences)
        state.dropItem(entity_id)
      },
      present: ({ entity_id, facts }, { app, people, origin }) => ({
        [entity]: {
          id: entity_id,
          app: showAppRef(app, people, origin),
          parent: (facts as unknown as Consequences).parent ?? null,
        },
      }),
    }),
  }
}

function namesOf(row: ContentRow): number[] {
  return row.updated_by === null ? [row.created_by] : [row.created_by, row.updated_by]
}

/** Authors have seen what they wrote: without that, their own message would count as unread. */
function markOwn(state: State, author: number, id: number, at: Date): void {
  if (author <= 0) return
  const own = state.member(author) ?? blankMember(state.app.id, author)
  state.putMember({ ...own, marked_id: id, marked_at: at })
}

function settle(state: State, { visible, trashed, newest, parent }: Consequences): void {
  if (parent !== undefined) return countComment(state, parent, visible)
  const { app } = state
  state.app = {
    ...app,
    ...newest,
    item_count: app.item_count + visible,
    trashed_count: app.trashed_count + trashed,
  }
}

function countComment(state: State, { type, id }: { type: string; id: number }, change: number): void {
  if (type !== 'post' || change === 0) return
  state.changeItem(id, item => ({ ...item, comment_count: (item as ContentRow).comment_count + change }) as ContentRow)
}
