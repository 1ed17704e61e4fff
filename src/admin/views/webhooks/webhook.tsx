import { sayCount } from '../../parts/amount.ts'
import { Badges } from '../../parts/badge.tsx'
import { Card, Figure } from '../../parts/card.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { maskUrl } from '../../parts/url.ts'
import type { WebhookDetails } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'
import { DeliveryList } from './deliveries.tsx'
import { WebhookActions } from './webhook-actions.tsx'
import { WebhookState } from './webhooks.tsx'

const { webhooks } = texts
const back = { to: '/webhooks', title: webhooks.title }

/** One webhook: how it fares, and what it was sent. */
export function WebhookView({ id = '' }: { id?: string }) {
  const webhook = useResource<WebhookDetails>(`/webhooks/${id}`, { isLive: true })
  return (
    <Loaded of={webhook} heading={{ title: webhooks.one, back }}>
      {of => (
        <>
          <Heading
            title={maskUrl(of.payload_url)}
            back={back}
            hint={<WebhookState of={of} />}
            actions={<WebhookActions of={of} onDone={webhook.reload} />}
          />
          <div class="figures">
            <Figure name={webhooks.queued} value={sayCount(of.queued)} />
            <Figure name={webhooks.failures} value={sayCount(of.failures_24h)} />
          </div>
          <Card>
            <Facts
              facts={[
                of.last_attempt_at !== undefined && [webhooks.lastAttempt, <Moment at={of.last_attempt_at} />],
                of.last_error !== undefined && [webhooks.lastError, of.last_error],
                of.next_attempt_at !== undefined && [webhooks.nextAttempt, <Moment at={of.next_attempt_at} />],
                [webhooks.lastSuccess, <Moment at={of.last_success_at} />],
                [webhooks.failingSince, <Moment at={of.failing_since} />],
                [webhooks.oldestQueued, <Moment at={of.oldest_queued_at} />],
                [webhooks.retries, of.retries],
                of.disabled_reason !== undefined && [webhooks.disabledReason, of.disabled_reason],
                [webhooks.triggers, <Badges of={of.triggers} />],
              ]}
            />
          </Card>
          <section class="stack">
            <h2>{texts.deliveries.title}</h2>
            <DeliveryList webhook={id} />
          </section>
        </>
      )}
    </Loaded>
  )
}
