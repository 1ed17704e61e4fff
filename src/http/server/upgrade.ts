import { problem } from '../../lib/errors.ts'
import { route, type Route } from '../route.ts'

export const UpgradeRequired = problem(426, 'upgrade-required', 'This address is for WebSockets.', {
  upgrade: 'websocket',
})

/** Answers those requests to an address for WebSockets that ask for none. */
export function upgradeOnly(path: string): Route {
  return route({
    method: 'GET',
    path,
    summary: 'Connect a WebSocket',
    auth: 'none',
    replies: {},
    problems: [UpgradeRequired],
    handle() {
      throw UpgradeRequired()
    },
  })
}
