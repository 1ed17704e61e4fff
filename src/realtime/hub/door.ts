import { problem } from '../../lib/errors.ts'
import { bearerIn, readUpgrade, type Door } from '../socket.ts'
import type { Hub } from './hub.ts'
import { jsonHub } from './records.ts'

export const path = '/hubs/rtm'

const TokenMissing = problem(401, 'unauthorized', 'A valid access token is needed.')

/** The door for SignalR clients. What they were told when they negotiated is not asked for: any node will do. */
export function hubDoor(hub: Hub): Door {
  return {
    path,
    kind: 'hub',
    readWish(req) {
      const token = bearerIn(req) ?? (req.getQuery('access_token') || null)
      if (token === null) throw TokenMissing()
      // Until the handshake says something else.
      return { form: jsonHub, protocol: '', token, ...readUpgrade(req) }
    },
    open(session, principal) {
      if (principal !== null) hub.open(session, principal)
    },
    refuse: (session, error) => hub.refuse(session, error),
    hear: (session, message, isBinary) => hub.hear(session, message, isBinary),
    leave: session => hub.leave(session),
  }
}
