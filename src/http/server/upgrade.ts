import { problem } from '../../lib/errors.ts'
import { route, type Route } from '../route.ts'

export const UpgradeRequired = problem(426, 'upgrade-required', 'This address is for WebSockets.', {
  upgrade: 'websocket',
})

/** Answers plain HTTP requests to the path of a WebSocket endpoint with 426 (RFC 9110, section 15.5.22). */
export function upgradeOnly(path: string): Route {
  return route(`GET ${path}`, {
    summary: 'Connect a WebSocket',
    auth: 'none',
    takesAnyQuery: true,
    replies: {},
    problems: [UpgradeRequired],
    handle() {
      throw UpgradeRequired()
    },
  })
}
