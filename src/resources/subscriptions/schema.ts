import type { ParentType } from '../content/parent.ts'

/** A row of `subscriptions`: a user's choice about a post or file, or an automatic subscription. */
export interface SubscriptionRow {
  entity_id: number
  user_id: number
  entity_type: ParentType
  is_subscribed: boolean
  /** Events with smaller revs came before it. */
  since: number
}
