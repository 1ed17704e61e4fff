import type { Origin } from './socket.ts'
import { WebSocketConnection } from './websocket.ts'

/** WebSockets that subscribe and then listen, spread evenly over the servers. */
export interface Listening {
  servers: Origin[]
  path: string
  listeners: Listener[]
}

export interface Listener {
  token: string | null
  /** What it says when it is let in, and a text in the frame that tells it is done. Null: nothing, and it is done. */
  hello: { say: string; until: string } | null
  /** A frame that is answered at once. */
  ping?: { hears: string; says: string }
}

/** Connections being opened at once: more would fill the server's queue of new connections. */
const openingLimit = 100

/** Opens all; resolves when each is done with its hello, rejects when one is refused. Order is that of `listeners`. */
export async function openListeners(
  { servers, path, listeners }: Listening,
  hear: (listener: number, frame: Buffer) => void,
): Promise<WebSocketConnection[]> {
  const open: WebSocketConnection[] = []
  const openOne = (index: number) =>
    new Promise<void>((resolve, reject) => {
      const { token, hello, ping } = listeners[index]!
      const pinged = ping && Buffer.from(ping.hears)
      const until = hello === null ? null : Buffer.from(hello.until)
      let isDone = false
      const done = () => {
        isDone = true
        resolve()
      }
      const connection = new WebSocketConnection(
        { origin: servers[index % servers.length]!, path, token },
        {
          opened: () => (hello === null ? done() : connection.say(hello.say)),
          heard(frame) {
            if (pinged?.equals(frame)) connection.say(ping!.says)
            else if (isDone) hear(index, frame)
            else if (frame.includes(until!)) done()
          },
          lost: error => reject(error ?? new Error(`WebSocket ${index} of ${listeners.length} was closed`)),
        },
      )
      open[index] = connection
    })

  let next = 0
  const openMore = async () => {
    while (next < listeners.length) await openOne(next++)
  }
  await Promise.all(Array.from({ length: Math.min(openingLimit, listeners.length) }, openMore))
  return open
}
