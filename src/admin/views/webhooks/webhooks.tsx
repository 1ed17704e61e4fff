import { Badge, Badges } from '../../parts/badge.tsx'
import { AskButton } from '../../parts/buttons.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import type { Column } from '../../parts/table.tsx'
import { maskUrl } from '../../parts/url.ts'
import type { Webhook } from '../../server/shapes.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { EditWebhook } from './webhook-dialogs.tsx'

const { webhooks } = texts

const columns: Column<Webhook>[] = [
  {
    title: webhooks.url,
    isName: true,
    show: ({ id, payload_url }) => <Link to={`/webhooks/${id}`}>{maskUrl(payload_url)}</Link>,
  },
  { title: webhooks.state, show: webhook => <WebhookState of={webhook} /> },
  { title: webhooks.triggers, show: ({ triggers }) => <Badges of={triggers} /> },
  { title: webhooks.failingSince, show: ({ failing_since }) => <Moment at={failing_since} /> },
]

/** Webhooks: other servers that are told what happens. */
export function WebhooksView() {
  const list = useList<Webhook>('/webhooks', [], { query: { order_by: 'id desc' } })
  return (
    <>
      <Heading
        title={webhooks.title}
        hint={webhooks.hint}
        actions={
          <AskButton isPrimary icon="plus" ask={<EditWebhook onDone={list.reload} />}>
            {webhooks.create}
          </AskButton>
        }
      />
      <List of={list} label={webhooks.title} columns={columns} empty={webhooks.empty} />
    </>
  )
}

/** Whether a webhook is told anything, and whether it listens. */
export function WebhookState({ of: { is_enabled, failing_since } }: { of: Webhook }) {
  if (!is_enabled) return <Badge>{webhooks.disabled}</Badge>
  return failing_since === undefined ? (
    <Badge tone="good">{webhooks.enabled}</Badge>
  ) : (
    <Badge tone="bad">{webhooks.failing}</Badge>
  )
}
