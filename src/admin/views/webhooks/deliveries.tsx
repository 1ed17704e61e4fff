import { Fragment } from 'preact'
import { sayDuration } from '../../parts/amount.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { ActButton } from '../../parts/buttons.tsx'
import { choice, exact, moment } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { actions, type Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import type { DeliverySummary } from '../../server/shapes.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'

const { deliveries } = texts

const filters = [
  choice('status', deliveries.status, [
    { value: '', title: deliveries.attempted },
    { value: 'failure', title: deliveries.statuses.failure },
    { value: 'success', title: deliveries.statuses.success },
    { value: 'queued', title: deliveries.statuses.queued },
  ]),
  exact('action', deliveries.action),
  moment('since', texts.list.since),
  moment('until', texts.list.until),
]
const allFilters = [...filters, exact('webhook', deliveries.webhook)]

/** What all webhooks were sent. */
export function DeliveriesView() {
  return (
    <>
      <Heading title={deliveries.title} hint={deliveries.hint} />
      <DeliveryList />
    </>
  )
}

/** Deliveries, newest first: of one webhook, or of all. */
export function DeliveryList({ webhook }: { webhook?: string }) {
  const server = useServer()
  const shown = webhook === undefined ? allFilters : filters
  const list = useList<DeliverySummary>('/deliveries', shown, {
    query: webhook === undefined ? {} : { webhook },
    isLive: true,
  })
  const redeliver = async ({ webhook_id, id }: DeliverySummary) => {
    await server.post(`/webhooks/${webhook_id}/deliveries/${id}/redeliver`)
    list.reload()
    return deliveries.redeliveredNotice
  }
  const columns: Column<DeliverySummary>[] = [
    {
      title: deliveries.action,
      isName: true,
      show: ({ id, webhook_id, action }) => <Link to={`/deliveries/${webhook_id}/${id}`}>{toBreakable(action)}</Link>,
    },
    { title: deliveries.status, show: delivery => <DeliveryState of={delivery} /> },
    { title: deliveries.code, show: ({ status_code, error = '–' }) => status_code ?? error },
    {
      title: deliveries.duration,
      isFigure: true,
      show: ({ duration }) => (duration === undefined ? '–' : sayDuration(duration * 1000)),
    },
    { title: deliveries.attempts, isFigure: true, show: ({ attempts }) => attempts },
    {
      title: deliveries.at,
      show: ({ delivered_at, next_attempt_at }) => (
        <span>
          <Moment at={delivered_at} />
          {next_attempt_at !== undefined && (
            <div class="muted">
              {deliveries.next}: <Moment at={next_attempt_at} />
            </div>
          )}
        </span>
      ),
    },
    ...(webhook === undefined
      ? [
          {
            title: deliveries.webhook,
            show: ({ webhook_id }: DeliverySummary) => <Link to={`/webhooks/${webhook_id}`}>#{webhook_id}</Link>,
          },
        ]
      : []),
    actions(
      delivery =>
        delivery.status !== 'queued' && (
          <ActButton isSmall act={() => redeliver(delivery)}>
            {deliveries.redeliver}
          </ActButton>
        ),
    ),
  ]
  return <List of={list} label={deliveries.title} columns={columns} filters={shown} empty={deliveries.empty} />
}

const tones: Record<DeliverySummary['status'], Tone> = { success: 'good', failure: 'bad', queued: 'warn' }

export function DeliveryState({ of: { status, attempts } }: { of: DeliverySummary }) {
  if (status === 'queued' && Number(attempts) > 0) return <Badge tone="bad">{deliveries.retried}</Badge>
  return <Badge tone={tones[status]}>{deliveries.statuses[status]}</Badge>
}

/** A word of the API, which breaks behind an underscore where there is no room for it. */
function toBreakable(word: string) {
  return word.split(/(?<=_)/).map((part, i) => (
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
