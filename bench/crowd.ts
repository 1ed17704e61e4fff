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
export interface Protocol {
  path: string
  hello: (app: string, token: string) => Listener['hello']
  /** What the server asks for now and then, and the answer without which it closes the connection. */
  ping?: Listener['ping']
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

/**
 * socket.io in version 5 of its protocol, over engine.io's version 4: listeners connect with their token, and the server
 * lets them into their rooms.
 */
export const socketIo: Protocol = {
  path: '/socket.io/?EIO=4&transport=websocket',
  hello: (_app, token) => ({ say: `40${JSON.stringify({ token })}`, until: '42["ready"]' }),
  ping: { hears: '2', says: '3' },
  delivery: '42["message",',
  isChained: false,
}

type Job = Omit<BroadcastJob, 'kind' | 'servers'>

/** A member writes, and everybody hears it. */
export function toJob({ app, members }: Room, protocol: Protocol, stage: Extent): Job {
  const { path, delivery, isChained } = protocol
  return {
    path,
    listeners: toListeners(stage, at => toListener(protocol, app, members[at % members.length]!.token)),
    request: fill(time =>
      toRequest('POST', `/api/apps/${app}/messages`, members[0]!.token, { text: `t=${time} and some words` }),
    ),
    ...toTiming(stage),
    delivery,
    isChained,
  }
}

export function toListener({ hello, ping }: Protocol, app: string, token: string): Listener {
  return { token, hello: hello(app, token), ...(ping && { ping }) }
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
