import type { HttpRequest } from 'uWebSockets.js'
import { BadRequest, problem } from '../../../lib/errors.ts'
import type { Native } from './native.ts'
import { findCodec, type Codec } from '../protocol.ts'
import { bearerIn, readUpgradeHeaders, type WebSocketEndpoint, type UpgradeRequest } from '../../sessions/socket.ts'

export const path = '/api/realtime'

export const ProtocolUnknown = problem(
  400,
  'protocol-unknown',
  'The subprotocols that are spoken here are json and msgpack.',
)

/** The WebSocket endpoint for the native protocol (docs/realtime.md). */
export function nativeEndpoint(native: Native): WebSocketEndpoint {
  return {
    path,
    kind: 'native',
    readUpgrade,
    onOpen(session, principal) {
      if (principal !== null) native.welcome(session, principal)
    },
    refuse: (session, error) => native.refuse(session, error),
    onMessage: (session, message, isBinary) => native.onMessage(session, message, isBinary),
    onClose: () => {},
  }
}

const bearer = 'bearer.'

/** Clients authenticate by header, subprotocol or query, whichever they can. */
function readUpgrade(req: HttpRequest): UpgradeRequest {
  const offered = req
    .getHeader('sec-websocket-protocol')
    .split(/\s*,\s*/)
    .filter(Boolean)
  const scalars = req.getQuery('scalars') ?? 'string'
  if (scalars !== 'string' && scalars !== 'number') throw BadRequest({ scalars: 'must be string or number' })
  const codec = codecOf(offered, scalars)
  const subprotocol = offered.find(protocol => protocol.startsWith(bearer))?.slice(bearer.length)
  return {
    codec,
    protocol: offered.length === 0 ? '' : codec.protocol,
    token: bearerIn(req) ?? subprotocol ?? (req.getQuery('access_token') || null),
    ...readUpgradeHeaders(req),
  }
}

function codecOf(offered: string[], scalars: 'string' | 'number'): Codec {
  for (const protocol of offered.length === 0 ? ['json'] : offered) {
    const codec = findCodec(protocol, scalars)
    if (codec !== undefined) return codec
  }
  throw ProtocolUnknown()
}
