import { problem } from '../../../lib/errors.ts'
import { bearerIn, readUpgradeHeaders, type WebSocketEndpoint } from '../../sessions/socket.ts'
import type { Hub } from './hub.ts'
import { jsonHub } from './records.ts'

export const path = '/hubs/rtm'

const TokenMissing = problem(401, 'unauthorized', 'A valid access token is needed.')

/** The WebSocket endpoint for SignalR clients. The connection id of their negotiation is ignored: any node will do. */
export function hubEndpoint(hub: Hub): WebSocketEndpoint {
  return {
    path,
    kind: 'hub',
    readUpgrade(req) {
      const token = bearerIn(req) ?? (req.getQuery('access_token') || null)
      if (token === null) throw TokenMissing()
      // Until the handshake chooses a protocol.
      return { codec: jsonHub, protocol: '', token, ...readUpgradeHeaders(req) }
    },
    onOpen(session, principal) {
      if (principal !== null) hub.open(session, principal)
    },
    refuse: (session, error) => hub.refuse(session, error),
    onMessage: (session, message, isBinary) => hub.onMessage(session, message, isBinary),
    onClose: session => hub.onClose(session),
  }
}
