import { createHmac } from 'node:crypto'

/** What Standard Webhooks signs (standardwebhooks.com). */
export interface Signable {
  /** Identifies the message; repeated attempts share it. */
  id: string
  at: Date
  body: string | Buffer
}

/** The headers of Standard Webhooks: a signature for each secret, or none without secrets. */
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

/** Libraries for Standard Webhooks write keys as base64 after `whsec_`; any other text is itself the key. */
function toKey(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret)
}
