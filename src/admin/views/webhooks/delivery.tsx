import { ActButton } from '../../parts/buttons.tsx'
import { sayDuration } from '../../parts/amount.ts'
import { Card } from '../../parts/card.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { maskUrl } from '../../parts/url.ts'
import { useServer } from '../../server/server.ts'
import type { Delivery, Webhook } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { DeliveryState } from './deliveries.tsx'

const { deliveries } = texts
const back = { to: '/deliveries', title: deliveries.title }

/** One delivery: what was sent, and what was answered. */
export function DeliveryView({ webhook = '', id = '' }: { webhook?: string; id?: string }) {
  const server = useServer()
  const path = `/webhooks/${webhook}/deliveries/${id}`
  const delivery = useResource<Delivery>(path)
  const redeliver = async () => {
    await server.post(`${path}/redeliver`)
    return deliveries.redeliveredNotice
  }
  return (
    <Loaded of={delivery} heading={{ title: deliveries.one, back }}>
      {of => (
        <>
          <Heading
            title={of.action}
            back={back}
            hint={<DeliveryState of={of} />}
            actions={
              <ActButton isPrimary isDisabled={of.status === 'queued'} act={redeliver}>
                {deliveries.redeliver}
              </ActButton>
            }
          />
          <Card>
            <Facts
              facts={[
                [deliveries.webhook, <WebhookLink id={of.webhook_id} />],
                [deliveries.at, <Moment at={of.delivered_at} />],
                [deliveries.code, of.status_code],
                [deliveries.duration, of.duration !== undefined && sayDuration(of.duration * 1000)],
                [deliveries.attempts, of.attempts],
                [deliveries.next, <Moment at={of.next_attempt_at} />],
                [deliveries.guid, <code>{of.guid}</code>],
                [deliveries.event, of.event_id],
              ]}
            />
          </Card>
          <div class="pair">
            <Exchange title={deliveries.request} empty={deliveries.noRequest} {...of.request}>
              {of.request && `${of.request.method} ${maskUrl(of.request.url)}`}
            </Exchange>
            <Exchange title={deliveries.response} empty={deliveries.noResponse} {...of.response}>
              {of.response?.error ?? of.response?.status_code}
            </Exchange>
          </div>
        </>
      )}
    </Loaded>
  )
}

function WebhookLink({ id }: { id: number }) {
  const { data } = useResource<Webhook>(`/webhooks/${id}`)
  return <Link to={`/webhooks/${id}`}>{data === undefined ? `#${id}` : maskUrl(data.payload_url)}</Link>
}

interface ExchangeProps {
  title: string
  empty: string
  headers?: Record<string, string> | undefined
  body?: string | undefined
  children: string | number | undefined
}

function Exchange({ title, empty, headers = {}, body, children }: ExchangeProps) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <Card title={title}>
      <div class="inside stack">
        <p>
          <code>{children ?? empty}</code>
        </p>
        {lines.length > 0 && <pre tabIndex={0}>{lines.join('\n')}</pre>}
        {body !== undefined && body !== '' && <pre tabIndex={0}>{pretty(body)}</pre>}
      </div>
    </Card>
  )
}

/** JSON with line ends; anything else as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // Not JSON, or cut off: receivers answer as they like.
    return text
  }
}
