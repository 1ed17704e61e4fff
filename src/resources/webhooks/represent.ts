import { verbatim } from '../../api/json.ts'
import type { DeliveryRow, DeliverySummaryRow } from './delivery/record-store.ts'
import type { WebhookRow } from './store.ts'

export type ShownWebhook = ReturnType<typeof showWebhook>

/** A webhook in responses, and in those that are stored for repetition: without its secrets. */
export function showWebhook(webhook: Omit<WebhookRow, 'secret' | 'old_secret' | 'old_secret_until'>) {
  const { id, payload_url, triggers, is_enabled, retries, failing_since, disabled_reason } = webhook
  return { id, payload_url, triggers, is_enabled, retries, failing_since, disabled_reason }
}

/** A delivery in lists. */
export function showDeliverySummary(row: DeliverySummaryRow) {
  const { id, webhook_id, guid, event_id, action, delivered_at, duration_ms, status, status_code, error, attempts } =
    row
  const duration = duration_ms === null ? null : Math.round(duration_ms) / 1000
  const shown = { id, webhook_id, guid, event_id, action, delivered_at, duration, status, status_code, error, attempts }
  return { ...shown, next_attempt_at: status === 'queued' ? row.due_at : null }
}

/** A delivery with its request and response. */
export function showDelivery(row: DeliveryRow) {
  const { request, response, body } = row
  return {
    ...showDeliverySummary(row),
    request: request && { ...request, headers: verbatim(request.headers), body },
    response: response && { ...response, headers: verbatim(response.headers) },
  }
}
