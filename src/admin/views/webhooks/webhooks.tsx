import { AskButton } from '../../parts/ask-button.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Icon } from '../../parts/icon.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import type { Column } from '../../parts/table.tsx'
import { maskUrl } from '../../parts/url.ts'
import type { Webhook } from '../../server/shapes.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { CreateWebhook } from './webhook-dialogs.tsx'
import { WebhookState } from './webhook-state.tsx'

const { webhooks } = texts

const columns: Column<Webhook>[] = [
  {
    title: webhooks.url,
    isName: true,
    show: ({ id, payload_url }) => <Link to={`/webhooks/${id}`}>{maskUrl(payload_url)}</Link>,
  },
  { title: webhooks.state, show: webhook => <WebhookState of={webhook} /> },
  {
    title: webhooks.triggers,
    show: ({ triggers }) => (
      <span class="badges">
        {triggers.map(trigger => (
          <Badge key={trigger}>{trigger}</Badge>
        ))}
      </span>
    ),
  },
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
          <AskButton isPrimary ask={close => <CreateWebhook onDone={list.reload} close={close} />}>
            <Icon name="plus" />
            {webhooks.create}
          </AskButton>
        }
      />
      <List of={list} label={webhooks.title} columns={columns} empty={webhooks.empty} />
    </>
  )
}
