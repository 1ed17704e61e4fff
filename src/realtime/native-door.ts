import type { HttpRequest } from 'uWebSockets.js'
import { BadRequest, problem } from '../lib/errors.ts'
import type { Native } from './native.ts'
import { findForm, type Form } from './protocol.ts'
import { bearerIn, readUpgrade, type Door, type Wish } from './socket.ts'

export const path = '/api/realtime'

export const ProtocolUnknown = problem(
  400,
  'protocol-unknown',
  'The subprotocols that are spoken here are json and msgpack.',
)

/** The door for clients that speak the protocols of docs/realtime.md. */
export function nativeDoor(native: Native): Door {
  return {
    path,
    kind: 'native',
    readWish,
    open(session, principal) {
      if (principal !== null) native.welcome(session, principal)
    },
    refuse: (session, error) => native.refuse(session, error),
    hear: (session, message, isBinary) => native.hear(session, message, isBinary),
    leave: () => {},
  }
}

const bearer = 'bearer.'

/** Clients say who they are by header, subprotocol or query, whichever they can. */
function readWish(req: HttpRequest): Wish {
  const offered = req
    .getHeader('sec-websocket-protocol')
    .split(/\s*,\s*/)
    .filter(Boolean)
  const scalars = req.getQuery('scalars') ?? 'string'
  if (scalars !== 'string' && scalars !== 'number') throw BadRequest({ scalars: 'must be string or number' })
  const form = formOf(offered, scalars)
  const subprotocol = offered.find(protocol => protocol.startsWith(bearer))?.slice(bearer.length)
  return {
    form,
    protocol: offered.length === 0 ? '' : form.protocol,
    token: bearerIn(req) ?? subprotocol ?? (req.getQuery('access_token') || null),
    ...readUpgrade(req),
  }
}

function formOf(offered: string[], scalars: 'string' | 'number'): Form {
  for (const protocol of offered.length === 0 ? ['json'] : offered) {
    const form = findForm(protocol, scalars)
    if (form !== undefined) return form
  }
  throw ProtocolUnknown()
}
