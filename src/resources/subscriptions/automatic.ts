import type { Write } from '../../engine/command.ts'
import type { AppEvent } from '../../engine/event.ts'
import { addSubscription, removeSubscriptionsOf, type SubscriptionRow } from './store.ts'

const nothing: Write[] = []

/**
 * Automatic subscriptions, written by the commit of their reason: to a post or file, for its author and for users who
 * comment on it. See SameCommitProjection.
 */
export function followWithSubscriptions(event: AppEvent): Write[] {
  const { type, entity_id, facts } = event
  switch (type) {
    case 'post_created':
      return subscribe(event, 'post', entity_id)
    case 'file_created':
      return subscribe(event, 'file', entity_id)
    case 'comment_created': {
      const parent = (facts as { parent?: { type: SubscriptionRow['entity_type']; id: number } } | null)?.parent
      return parent === undefined ? nothing : subscribe(event, parent.type, parent.id)
    }
    case 'post_deleted':
    case 'file_deleted':
      return [{ batch: removeSubscriptionsOf as Write['batch'], row: { id: entity_id } }]
    default:
      return nothing
  }
}

/** An API key has no user to subscribe. */
function subscribe({ actor_id, rev }: AppEvent, type: SubscriptionRow['entity_type'], entity: number): Write[] {
  if (actor_id <= 0) return nothing
  const row: SubscriptionRow = {
    entity_id: entity,
    user_id: actor_id,
    entity_type: type,
    is_subscribed: true,
    since: rev,
  }
  return [{ batch: addSubscription as Write['batch'], row }]
}
