import { addressed, HttpConnection } from './http-connection.ts'
import type { Origin } from './socket.ts'
import { WebSocketConnection } from './websocket.ts'

/** Load of one user who does not care for answers: begins again at once after each, whatever it says, until released. */
export interface FloodJob {
  kind: 'flood'
  server: Origin
  /** Connections that each send `requests` in turn, beginning at different ones. */
  connections: number
  requests: string[]
  sockets?: FloodSockets
}

/** WebSockets that are opened again when the server has closed them. */
export interface FloodSockets {
  count: number
  path: string
  token: string
  /** Frames that each says in turn, the first when it is open. */
  frames: string[]
  /** Time between the frames of one. */
  everyMs: number
}

/** Status, or reason of an end → how often. */
export type Flooded = Record<string, number>

/** Time until a connection that was lost is opened again: a client does at least this. */
const againMs = 10

export async function runFlood(
  { server, connections, requests, sockets }: FloodJob,
  begun: () => void,
  released: Promise<void>,
): Promise<Flooded> {
  const counts: Flooded = {}
  const count = (what: string) => (counts[what] = (counts[what] ?? 0) + 1)
  const open = new Set<{ close(): void }>()
  let isOver = false
  const again = (connect: () => void) => setTimeout(() => !isOver && connect(), againMs)

  const prepared = requests.map(request => Buffer.from(addressed(request, server)))
  const send = (first: number) => {
    let turn = first
    const next = () => connection.send(prepared[turn++ % prepared.length]!)
    const answered = (status: number) => {
      count(String(status))
      next()
    }
    const lost = () => {
      if (!open.delete(connection)) return
      count('lost')
      connection.close()
      again(() => send(turn))
    }
    const connection = new HttpConnection(server, answered, lost)
    open.add(connection)
    next()
  }
  const listen = ({ path, token, frames, everyMs }: FloodSockets) => {
    let timer: NodeJS.Timeout | undefined
    let turn = 0
    const say = () => connection.say(frames[turn++ % frames.length]!)
    const opened = () => {
      count('opened')
      say()
      if (frames.length > 1) timer = setInterval(say, everyMs)
    }
    const lost = (error: Error | null) => {
      if (!open.delete(connection)) return
      clearInterval(timer)
      count(error?.message ?? 'lost')
      connection.close()
      again(() => listen({ path, token, frames, everyMs, count: 1 }))
    }
    const connection = new WebSocketConnection({ origin: server, path, token }, { opened, heard: () => {}, lost })
    open.add(connection)
  }
  for (let at = 0; at < connections; at++) send(at)
  for (let at = 0; at < (sockets?.count ?? 0); at++) listen(sockets!)

  begun()
  await released
  isOver = true
  for (const connection of open) connection.close()
  return counts
}
