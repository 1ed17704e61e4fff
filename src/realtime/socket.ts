import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js'
import type { Principal } from '../actors/principal.ts'
import { Address, type Addresses } from './addresses.ts'
import { AmbiguousRequest, isClearlyFramed } from '../lib/framing.ts'
import type { Admission } from './admission.ts'
import type { FanOut } from './fan-out.ts'
import type { Form } from './protocol.ts'
import { Arrival, Lobby } from './arrival.ts'
import { Session, type SessionKind } from './session.ts'
import type { Sessions } from './sessions.ts'
import type { RealtimeSettings } from './settings.ts'

/** Answers a request that does not become a WebSocket, in the form that all refusals have. */
export type Refuse = (res: HttpResponse, req: HttpRequest, error: unknown) => void

/** One address for WebSockets, and what is spoken there. */
export interface Door {
  readonly path: string
  readonly kind: SessionKind
  /** Reads what an upgrade request asks for before it is freed. Refuses what cannot be had. */
  readWish(req: HttpRequest): Wish
  /** A session begins; the principal is null where the first frame is to say who it is. */
  open(session: Session, principal: Principal | null): void
  /** The token that came with the request is not valid, or cannot be looked up: the session ends with the reason. */
  refuse(session: Session, error: unknown): void
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
  addresses: Addresses
  /** The IP address of the client of an upgrade request. */
  ipOf: (res: HttpResponse, req: HttpRequest) => string
  sessions: Sessions
  fanOut: FanOut
  admission: Admission
  settings: RealtimeSettings
  refuse: Refuse
  now: () => number
}

/** What uWebSockets.js keeps for a socket. It copies the members of this object, so there is only one. */
interface UserData {
  session: Session | Opening | Arrival
}

/** What is known of a connection when its socket opens. */
interface Opening {
  readonly form: Form
  readonly origin: string
  /** The client's IP address. */
  readonly ip: string
  /** Null where the first frame is to say who it is; a promise while its token is being looked up. */
  readonly principal: Principal | null | Promise<Principal>
}

/** Lets clients in through a door. The only file that touches the WebSockets of uWebSockets.js. */
export function serve(app: TemplatedApp, door: Door, parts: SocketParts): void {
  const { sessions, fanOut, settings, now } = parts
  const lobby = new Lobby()
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
      const { form, origin, ip, principal } = openingOf(socket)
      // Its own until the session is opened: nothing is published to it before.
      const address = new Address(origin, 0)
      const since = now()
      const start = { form, address, kind: door.kind, ip, since }
      const session = new Session(socket, start, since + settings.helloTimeoutMs)
      sessions.add(session)
      if (principal instanceof Promise) return arrive(door, socket, new Arrival(session, lobby), principal)
      socket.getUserData().session = session
      door.open(session, principal)
    },
    message(socket, message, isBinary) {
      const { session } = socket.getUserData()
      if (session instanceof Arrival) session.hold(message, isBinary)
      else door.hear(sessionOf(socket), message, isBinary)
    },
    drain: socket => fanOut.drained(sessionOf(socket)),
    close(socket) {
      const data = socket.getUserData()
      if (data.session instanceof Arrival) data.session.release()
      const session = sessionOf(socket)
      session.lost()
      sessions.remove(session)
      fanOut.leave(session)
      door.leave(session)
    },
  })
}

/**
 * Answers before it returns, also where the token has still to be looked up; then the session waits for that. Upgrading
 * a corked response later is what uWebSockets.js' examples do, and it ends some of the new connections at once: when the
 * socket's memory is not moved by the upgrade, `cork` goes on to read what is now a WebSocket as a response, and may
 * find there that the connection is to be closed.
 */
function upgrade(
  door: Door,
  { addresses, ipOf, admission, refuse }: SocketParts,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
): void {
  try {
    if (!isClearlyFramed(req)) throw AmbiguousRequest()
    const { form, protocol, token, key, extensions } = door.readWish(req)
    admission.requireRoom(token === null)
    const principal = token === null ? null : admission.authenticate(token)
    // Its refusal is told when the socket is open; should that fail, nobody is left to be told.
    if (principal instanceof Promise) principal.catch(() => {})
    res.upgrade<UserData>(
      { session: { form, origin: addresses.of(req), ip: ipOf(res, req), principal } },
      key,
      protocol,
      extensions,
      context,
    )
  } catch (error) {
    refuse(res, req, error)
  }
}

/** The session begins when its token has been looked up; what the client says meanwhile is heard then. */
function arrive(door: Door, socket: WebSocket<UserData>, arrival: Arrival, principal: Promise<Principal>): void {
  const data = socket.getUserData()
  const { session } = arrival
  data.session = arrival
  principal
    .then(found => {
      if (session.isClosed) return
      data.session = session
      door.open(session, found)
      arrival.release((message, isBinary) => !session.isClosed && door.hear(session, message, isBinary))
    })
    .catch((error: unknown) => {
      arrival.release()
      if (!session.isClosed) door.refuse(session, error)
    })
}

/** The token in the Authorization header; null if there is none. */
export function bearerIn(req: HttpRequest): string | null {
  return /^bearer +(\S+)$/i.exec(req.getHeader('authorization'))?.[1] ?? null
}

/** What every upgrade request says of itself. */
export function readUpgrade(req: HttpRequest): Pick<Wish, 'key' | 'extensions'> {
  return { key: req.getHeader('sec-websocket-key'), extensions: req.getHeader('sec-websocket-extensions') }
}

function openingOf(socket: WebSocket<UserData>): Opening {
  const { session } = socket.getUserData()
  if (session instanceof Session || session instanceof Arrival) throw new Error('A socket was opened twice')
  return session
}

function sessionOf(socket: WebSocket<UserData>): Session {
  const { session } = socket.getUserData()
  if (session instanceof Session) return session
  if (session instanceof Arrival) return session.session
  throw new Error('A socket was used before it was open')
}
