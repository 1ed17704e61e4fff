import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { reply } from '../../http/route.ts'
import { Json } from '../../api/json.ts'
import { route } from '../route.ts'

const Negotiation = z
  .looseObject({
    connectionId: z.string(),
    availableTransports: z.array(z.looseObject({ transport: z.string(), transferFormats: z.array(z.string()) })),
  })
  .describe('Numbers are JSON numbers here, whatever the form of scalars: SignalR clients know no other')

/**
 * Clients of SignalR ask here how to connect. Nothing is kept of the answer, so that any node can take the connection:
 * it is the access token that counts, there as here.
 */
const negotiate = route('POST /hubs/rtm/negotiate', {
  summary: 'Ask how to connect to the hub',
  auth: 'token',
  query: z.object({ negotiateVersion: z.string().optional() }),
  takesAnyQuery: true,
  replies: { 200: Negotiation },
  handle({ query }) {
    const id = randomBytes(16).toString('base64url')
    const availableTransports = [{ transport: 'WebSockets', transferFormats: ['Text', 'Binary'] }]
    // Clients of the first version have one id for everything.
    const connection =
      query.negotiateVersion === undefined || query.negotiateVersion === '0'
        ? { negotiateVersion: 0, connectionId: id }
        : { negotiateVersion: 1, connectionId: id, connectionToken: randomBytes(16).toString('base64url') }
    return reply(200, new Json(JSON.stringify({ ...connection, availableTransports })))
  },
})

export const routes = [negotiate]
