import type { AppEvent } from '../../../engine/event.ts'
import type { Draft } from '../schema.ts'

/** The part of a notification that is the same for all recipients and texts: its event and its item. */
export function toItemDraft(
  event: AppEvent,
  type: Draft['link_type'],
  { id, parent_type, parent_id }: Pick<Draft, 'parent_type' | 'parent_id'> & { id: number },
): Omit<Draft, 'user_id' | 'type' | 'template' | 'args'> {
  return {
    app_id: event.app_id,
    action: event.type,
    actor_ids: [event.actor_id],
    link_type: type,
    link_id: id,
    parent_type,
    parent_id,
    metadata: null,
    created_at: event.created_at,
    from_id: null,
  }
}
