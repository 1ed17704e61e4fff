import { STATUS_CODES } from 'node:http'
import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js'
import type { Principal } from '../actors/principal.ts'
import { problem } from '../lib/errors.ts'
import type { Admission } from './admission.ts'
import type { FanOut } from './fan-out.ts'
import type { Form } from './protocol.ts'
import { Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import type { RealtimeSettings } from './settings.ts'

export const UpgradeRequired = problem(426, 'upgrade-required', 'This address is for WebSockets.')

/** An answer to a request that does not become a WebSocket. */
export interface Refusal {
  status: number
  type?: string
  headers?: Readonly<Record<string, string>> | undefined
  body?: string | Uint8Array | undefined
}

/** One address for WebSockets, and what is spoken there. */
export interface Door {
  readonly path: string
  /** Reads what an upgrade request asks for before it is freed. Refuses what cannot be had. */
  readWish(req: HttpRequest): Wish
  /** A session begins; the principal is null where the first frame is to say who it is. */
  open(session: Session, principal: Principal | null): void
  hear(session: Session, message: ArrayBuffer, isBinary: boolean): void
  /** It has ended. */
  leave(session: Session): void
}

/** What an upgrade request asks for. */
export interface Wish {
  readonly form: Form
  /** The subprotocol to answer with; empty where none was asked for. */
  readonly protocol: string
  /** Null where it comes later. */
  readonly token: string | null
  readonly key: string
  readonly extensions: string
}

export interface SocketParts {
  sessions: Sessions
  fanOut: FanOut
  admission: Admission
  settings: RealtimeSettings
  /** Writes down why a request is refused, in the form that all refusals have. */
  toRefusal: (error: unknown) => Refusal
  now: () => number
}

/** What uWebSockets.js keeps for a socket. It copies the members of this object, so there is only one. */
interface UserData {
  session: Session | Opening
}

/** What is known of a connection when its socket opens. */
interface Opening {
  readonly form: Form
  /** Null where the first frame is to say who it is. */
  readonly principal: Principal | null
}

/** Lets clients in through a door. The only file that touches the WebSockets of uWebSockets.js. */
export function serve(app: TemplatedApp, door: Door, parts: SocketParts): void {
  const { sessions, fanOut, settings, now } = parts
  app.ws<UserData>(door.path, {
    maxPayloadLength: settings.frameBytes,
    idleTimeout: settings.idleTimeoutSeconds,
    sendPingsAutomatically: true,
    maxBackpressure: settings.backlogBytes,
    // Without this, published messages that are too many for a socket are skipped, and nobody hears of it.
    closeOnBackpressureLimit: true,
    // No compression: by far the most of an idle connection's memory would go there.
    upgrade: (res, req, context) => upgrade(door, parts, res, req, context),
    open(socket) {
      const { form, principal } = openingOf(socket)
      const session = new Session(socket, form, now() + settings.helloTimeoutMs)
      socket.getUserData().session = session
      sessions.add(session)
      door.open(session, principal)
    },
    message: (socket, message, isBinary) => door.hear(sessionOf(socket), message, isBinary),
    drain: socket => fanOut.drained(sessionOf(socket)),
    close(socket) {
      const session = sessionOf(socket)
      session.lost()
      sessions.remove(session)
      fanOut.leave(session)
      door.leave(session)
    },
  })
  app.get(door.path, res => {
    const refusal = parts.toRefusal(UpgradeRequired())
    refuse(res, { ...refusal, headers: { ...refusal.headers, Upgrade: 'websocket' } })
  })
}

function upgrade(
  door: Door,
  parts: SocketParts,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
): void {
  const { admission, toRefusal } = parts
  let isGone = false
  res.onAborted(() => {
    isGone = true
  })
  const accept = (wish: Wish, principal: Principal | null) => {
    if (isGone) return
    const data: UserData = { session: { form: wish.form, principal } }
    res.cork(() => res.upgrade(data, wish.key, wish.protocol, wish.extensions, context))
  }
  const decline = (error: unknown) => {
    if (!isGone) res.cork(() => refuse(res, toRefusal(error)))
  }
  try {
    const wish = door.readWish(req)
    admission.requireRoom(wish.token === null)
    const principal = wish.token === null ? null : admission.authenticate(wish.token)
    if (principal instanceof Promise) principal.then(found => accept(wish, found)).catch(decline)
    else accept(wish, principal)
  } catch (error) {
    decline(error)
  }
}

/** The token in the Authorization header; null if there is none. */
export function bearerIn(req: HttpRequest): string | null {
  return /^bearer +(\S+)$/i.exec(req.getHeader('authorization'))?.[1] ?? null
}

/** What every upgrade request says of itself. */
export function readUpgrade(req: HttpRequest): Pick<Wish, 'key' | 'extensions'> {
  return { key: req.getHeader('sec-websocket-key'), extensions: req.getHeader('sec-websocket-extensions') }
}

function refuse(res: HttpResponse, { status, type, headers, body }: Refusal): void {
  res.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`)
  if (type !== undefined) res.writeHeader('Content-Type', type)
  for (const name in headers) res.writeHeader(name, headers[name]!)
  res.end(body ?? '')
}

function openingOf(socket: WebSocket<UserData>): Opening {
  const { session } = socket.getUserData()
  if (session instanceof Session) throw new Error('A socket was opened twice')
  return session
}

function sessionOf(socket: WebSocket<UserData>): Session {
  const { session } = socket.getUserData()
  if (!(session instanceof Session)) throw new Error('A socket was used before it was open')
  return session
}
