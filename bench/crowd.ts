import { toInstant, type BroadcastJob } from './load/broadcast.ts'
import { toRequest } from './load/http-connection.ts'
import type { Listener } from './load/listeners.ts'
import type { AnyStage } from './stage.ts'
import type { Need, Room } from './world.ts'

/** A room whose members listen, each on two devices. */
export const hall: Need = { rooms: 1, members: 500, messages: 10_000 }

/** How many listen, and how many messages they hear a second. */
export const listeners = 1_000
export const perSecond = 20

/** How many listen in a trial. */
const trialListeners = 10

/** How a listener gets to hear of a room. */
interface Protocol {
  path: string
  hello: (app: string) => Listener['hello']
  delivery: string
  isChained: boolean
}

export const native: Protocol = {
  path: '/api/realtime',
  hello: app => ({ say: JSON.stringify({ type: 'subscribe', app_id: Number(app) }), until: '"subscribed"' }),
  delivery: '"prev":',
  isChained: true,
}

/**
 * SignalR with JSON: the handshake, and the names of what native clients hear without asking, then of messages. Nobody
 * needs to negotiate for a WebSocket.
 */
export const hub: Protocol = {
  path: '/hubs/rtm',
  hello: app => ({
    say: [
      { protocol: 'json', version: 1 },
      ...['notification_created', 'notification_updated', `a${app}:message_created`].map(name => ({
        type: 1,
        invocationId: name,
        target: 'Subscribe',
        arguments: [name],
      })),
    ]
      .map(record => `${JSON.stringify(record)}\x1e`)
      .join(''),
    until: `"invocationId":"a${app}:message_created","result":true`,
  }),
  delivery: ':message_created"',
  isChained: false,
}

type Job = Omit<BroadcastJob, 'kind' | 'servers'>

/** A member writes, and everybody hears it. */
export function toJob({ app, members }: Room, { path, hello, delivery, isChained }: Protocol, stage: Extent): Job {
  return {
    path,
    listeners: toListeners(stage, at => ({ token: members[at % members.length]!.token, hello: hello(app) })),
    request: fill(time =>
      toRequest('POST', `/api/apps/${app}/messages`, members[0]!.token, { text: `t=${time} and some words` }),
    ),
    ...toTiming(stage),
    delivery,
    isChained,
  }
}

type Extent = Pick<AnyStage, 'seconds' | 'isTrial'>

export function toListeners({ isTrial }: Extent, make: (at: number) => Listener): Listener[] {
  return Array.from({ length: isTrial ? trialListeners : listeners }, (_, at) => make(at))
}

/** How often messages are sent, and for how long. */
export function toTiming({ seconds, isTrial }: Extent) {
  return { perSecond, seconds, warmupSeconds: isTrial ? 0.1 : 1 }
}

/** Makes a request with the time left open, and with the length that it will have when it is filled in. */
export function fill(make: (time: string) => string): string {
  const time = toInstant(0)
  return make(time).replace(`"t=${time}`, '"t={time}')
}
