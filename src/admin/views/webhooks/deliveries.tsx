import { Heading } from '../../parts/heading.tsx'
import { texts } from '../../texts.ts'
import { DeliveryList } from './delivery-list.tsx'

/** What all webhooks were sent. */
export function DeliveriesView() {
  return (
    <>
      <Heading title={texts.deliveries.title} hint={texts.deliveries.hint} />
      <DeliveryList />
    </>
  )
}
