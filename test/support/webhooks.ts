import { expect } from 'vitest'
import type { Body } from './client.ts'
import { eventually } from './eventually.ts'
import type { Received } from './receiver.ts'
import type { Server } from './server.ts'

/** What a receiver was told. */
export const payloadOf = ({ body }: Received): Body => JSON.parse(body)

/** A new webhook for messages, unless `settings` say otherwise. */
export async function register(
  { admin }: Pick<Server, 'admin'>,
  payload_url: string,
  settings: object = {},
): Promise<Body> {
  const { status, body } = await admin.post('/api/webhooks', { payload_url, triggers: ['messages'], ...settings })
  expect(status).toBe(201)
  return body
}

/** The attempts of a webhook, newest first, when there are so many. */
export function attempts({ admin }: Pick<Server, 'admin'>, webhook: string, count: number): Promise<Body[]> {
  return eventually(async () => {
    const { body } = await admin.get(`/api/webhooks/${webhook}/deliveries?take=100`)
    expect(body.count).toBe(String(count))
    return body.data
  })
}
