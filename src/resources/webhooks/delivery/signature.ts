import { createHmac } from 'node:crypto'

/** `sha256=` and the lower-case hex HMAC-SHA256 of the exact bytes sent, keyed by the webhook's secret. */
export function sign(body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}
