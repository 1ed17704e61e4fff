import { verbatim } from '../../lib/json.ts'
import type { ShownWebhook } from './commands.ts'
import type { DeliveryRow, DeliverySummaryRow } from './store.ts'

export function showWebhook({ id, payload_url, triggers, is_enabled }: ShownWebhook) {
  return { id, payload_url, triggers, is_enabled }
}

/** The delivery as list items show it. */
export function showDeliverySummary(row: DeliverySummaryRow) {
  const { id, guid, event_id, action, delivered_at, duration_ms, status, status_code } = row
  const duration = duration_ms === null ? null : Math.round(duration_ms) / 1000
  return { id, guid, event_id, action, delivered_at, duration, status, status_code }
}

/** The delivery with what was sent and what came back. */
export function showDelivery(row: DeliveryRow) {
  const { request, response, body } = row
  return {
    ...showDeliverySummary(row),
    request: request && { ...request, headers: verbatim(request.headers), body },
    response: response && { ...response, headers: verbatim(response.headers) },
  }
}
