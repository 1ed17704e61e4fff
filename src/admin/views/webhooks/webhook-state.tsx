import { Badge } from '../../parts/badge.tsx'
import type { Webhook } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

const { webhooks } = texts

/** Whether a webhook is told anything, and whether it listens. */
export function WebhookState({ of: { is_enabled, failing_since } }: { of: Webhook }) {
  if (!is_enabled) return <Badge>{webhooks.disabled}</Badge>
  return failing_since === undefined ? (
    <Badge tone="good">{webhooks.enabled}</Badge>
  ) : (
    <Badge tone="bad">{webhooks.failing}</Badge>
  )
}
