import { event } from '../../actors/event.ts'
import type { AppRow, State } from '../../actors/state.ts'
import { blankMember } from '../../actors/state.ts'
import { withMessage } from '../apps/unread.ts'
import { showAppRef } from '../apps/represent.ts'
import type { ContentRow } from '../content/schema.ts'
import { presentContent, redactContent } from '../content/represent.ts'
import { findMessages } from './store.ts'

const named = ({ body }: { body: ContentRow | null }) =>
  body === null ? [] : body.updated_by === null ? [body.created_by] : [body.created_by, body.updated_by]

/** A message was sent. Its author has seen it: without that, their own message would count as unread. */
export const messageCreated = event<ContentRow>({
  type: 'message_created',
  entity: 'message',
  touches: true,
  trigger: 'messages',
  load: findMessages,
  names: named,
  apply(state, { app_id, entity_id, actor_id, created_at, body }) {
    const { app } = state
    const newest = withMessage(app, entity_id, actor_id)
    state.app = { ...app, ...newest, item_count: app.item_count + 1, made_count: app.made_count + 1 }
    if (body !== null && body.trashed_at === null) state.putItem(body)
    if (actor_id <= 0) return
    const own = state.member(actor_id) ?? blankMember(app_id, actor_id)
    state.putMember({ ...own, marked_id: entity_id, marked_at: created_at })
  },
  present: (event, scene) => present(event.body, scene),
  redact: (event, scene) => redact(event.body, scene),
})

type Newest = Pick<AppRow, 'last_id' | 'last_by' | 'prior_id'>

/** What an update or deletion did beyond the message itself. */
interface Consequences {
  /** -1 trashed, 1 restored, 0 neither. */
  visible: -1 | 0 | 1
  /** Set where the newest messages of the app are others now. */
  newest?: Newest
}

function move(state: State, { visible, newest }: Consequences): void {
  const { app } = state
  state.app = {
    ...app,
    ...newest,
    item_count: app.item_count + visible,
    trashed_count: app.trashed_count - visible,
  }
}

/** A message was edited, trashed or restored. */
export const messageUpdated = event<ContentRow>({
  type: 'message_updated',
  entity: 'message',
  touches: false,
  trigger: 'messages',
  load: findMessages,
  names: named,
  apply(state, { entity_id, facts, body }) {
    move(state, facts as unknown as Consequences)
    if (body === null || body.trashed_at !== null) state.dropItem(entity_id)
    else state.putItem(body)
  },
  present: (event, scene) => present(event.body, scene),
  redact: (event, scene) => redact(event.body, scene),
})

/** A message is gone for good; only its id is left. */
export const messageDeleted = event<null>({
  type: 'message_deleted',
  entity: 'message',
  touches: false,
  trigger: 'messages',
  apply(state, { entity_id, facts }) {
    const { wasTrashed, newest } = facts as unknown as { wasTrashed: boolean; newest?: Newest }
    const { app } = state
    state.app = {
      ...app,
      ...newest,
      item_count: app.item_count - (wasTrashed ? 0 : 1),
      trashed_count: app.trashed_count - (wasTrashed ? 1 : 0),
    }
    state.dropItem(entity_id)
  },
  present: ({ entity_id }, { app, people, origin }) => ({
    message: { id: entity_id, app: showAppRef(app, people, origin) },
  }),
})

type SceneOf = Parameters<typeof presentContent>[1]

const present = (row: ContentRow | null, scene: SceneOf) =>
  row === null ? null : { message: presentContent(row, scene) }

const redact = (row: ContentRow | null, scene: SceneOf) => (row === null ? null : { message: redactContent(row, scene) })

export const events = [messageCreated, messageUpdated, messageDeleted]
