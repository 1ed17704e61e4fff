import { createHmac } from 'node:crypto'

/** What is signed, as in Standard Webhooks (standardwebhooks.com). */
export interface Signable {
  /** Tells one message from another: the same in repeated attempts. */
  id: string
  at: Date
  body: string | Buffer
}

/** The headers of a signed message; of one without secrets, those that are not a signature. Each secret signs. */
export function standardHeaders({ id, at, body }: Signable, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signatures = secrets.map(secret => {
    const hmac = createHmac('sha256', toKey(secret)).update(`${id}.${timestamp}.`).update(body)
    return `v1,${hmac.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  }
}

/** Libraries for Standard Webhooks write keys as base64 behind `whsec_`; anything else is the key itself. */
function toKey(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret)
}
