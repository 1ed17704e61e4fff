import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket } from 'uWebSockets.js'
import type { Principal } from '../../auth/principal.ts'
import { ClientOrigin } from './client-origins.ts'
import { AmbiguousRequest, isClearlyFramed } from '../../http/request/head.ts'
import type { HttpServer } from '../../http/server/server.ts'
import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/errors.ts'
import type { Admission } from './admission.ts'
import type { FanOut } from '../fan-out.ts'
import type { Codec } from '../protocols/protocol.ts'
import { PendingSession } from './pending-session.ts'
import { Refusals, Refused } from './refusals.ts'
import { closeCodes, Session, type SessionKind } from './session.ts'
import type { Sessions } from './sessions.ts'
import type { RealtimeSettings } from '../settings.ts'

/** A WebSocket endpoint: its path and the behaviour of its protocol. */
export interface WebSocketEndpoint {
  readonly path: string
  readonly kind: SessionKind
  /** Reads an upgrade request before uWebSockets.js frees it. Throws a Problem where it is refused. */
  readUpgrade(req: HttpRequest): UpgradeRequest
  /** Called when a session begins whose request brought a token; otherwise its first frame is to authenticate it. */
  onOpen(session: Session, principal: Principal): void
  /** Called where the token of the request is not valid or cannot be looked up: ends the session with the reason. */
  refuse(session: Session, error: unknown): void
  onMessage(session: Session, message: ArrayBuffer, isBinary: boolean): void
  /** Called when the session has ended. */
  onClose?(session: Session): void
}

/** What an upgrade request asks for. */
export interface UpgradeRequest {
  readonly codec: Codec
  /** The subprotocol to answer with; empty where none was offered. */
  readonly protocol: string
  /** Null where the first frame will bring it. */
  readonly token: string | null
}

/** The HTTP server, which does not listen yet. */
export type RealtimeServer = Pick<HttpServer, 'uws' | 'refuse' | 'originOf' | 'ipOf'>

export interface SocketParts {
  server: RealtimeServer
  sessions: Sessions
  fanOut: FanOut
  admission: Admission
  settings: RealtimeSettings
  clock: Clock
}

/**
 * The largest message that is received, only to be refused: larger than `frameBytes`, because uWebSockets.js cuts a
 * connection with a message over its own limit, and the client would not learn why (1006).
 */
const refusableBytes = 1024 * 1024

/** The user data of a socket. uWebSockets.js copies its members, so there is only one. */
interface UserData {
  session: Session | Opening | PendingSession | Refused
}

/** What is known of a connection when its socket opens. */
interface Opening {
  readonly codec: Codec
  readonly origin: string
  /** The client's IP address. */
  readonly ip: string
  /** Null where the first frame is to authenticate it; a promise while its token is looked up. */
  readonly principal: Principal | null | Promise<Principal>
}

/** Opens a WebSocket endpoint. No other file uses the WebSockets of uWebSockets.js. */
export function serve(endpoint: WebSocketEndpoint, parts: SocketParts): void {
  const { server, sessions, fanOut, settings, clock } = parts
  const budget = { bytes: 0 }
  const refusals = new Refusals(clock)
  server.uws.ws<UserData>(endpoint.path, {
    maxPayloadLength: Math.max(refusableBytes, settings.frameBytes),
    idleTimeout: settings.idleTimeoutSeconds,
    sendPingsAutomatically: true,
    maxBackpressure: settings.backlogBytes,
    // Otherwise uWebSockets.js silently skips published messages of a socket with too much backlog.
    closeOnBackpressureLimit: true,
    // No compression, which would take most of the memory of an idle connection.
    upgrade: (res, req, context) => upgrade(endpoint, parts, { res, req, context }),
    open(socket) {
      const { session: refusal } = socket.getUserData()
      if (refusal instanceof Refused) return refusals.end(socket, refusal)
      const { codec, origin, ip, principal } = openingOf(socket)
      // An origin of its own until the session is open: nothing is published to it before.
      const clientOrigin = new ClientOrigin(origin, 0)
      const since = clock.now()
      const start = { codec, clientOrigin, kind: endpoint.kind, ip, since }
      const session = new Session(socket, start, since + settings.helloTimeoutMs)
      sessions.add(session)
      if (principal instanceof Promise)
        return openWhenKnown(endpoint, socket, new PendingSession(session, budget), principal)
      socket.getUserData().session = session
      if (principal !== null) endpoint.onOpen(session, principal)
    },
    message(socket, message, isBinary) {
      const { session } = socket.getUserData()
      if (session instanceof Refused) return
      if (message.byteLength > settings.frameBytes)
        return sessionOf(socket).close(closeCodes.tooLarge, 'frame-too-large')
      if (session instanceof PendingSession) session.hold(message, isBinary)
      else endpoint.onMessage(sessionOf(socket), message, isBinary)
    },
    drain(socket) {
      if (!(socket.getUserData().session instanceof Refused)) fanOut.onDrain(sessionOf(socket))
    },
    close(socket) {
      const data = socket.getUserData()
      if (data.session instanceof Refused) return data.session.forget?.()
      if (data.session instanceof PendingSession) data.session.release()
      const session = sessionOf(socket)
      session.onSocketClosed()
      sessions.remove(session)
      fanOut.onClose(session)
      endpoint.onClose?.(session)
    },
  })
}

/**
 * Answers synchronously, even where the token has yet to be looked up; then the session waits for that. Upgrading a
 * corked response later, as uWebSockets.js' examples do, ends some new connections at once: where the upgrade does not
 * move the socket's memory, `cork` continues to read the WebSocket as an HTTP response, and may find that the
 * connection is to be closed.
 */
function upgrade(endpoint: WebSocketEndpoint, { server, admission }: SocketParts, { res, req, context }: Upgrade) {
  const open = (session: UserData['session'], protocol: string) =>
    res.upgrade<UserData>(
      { session },
      req.getHeader('sec-websocket-key'),
      protocol,
      req.getHeader('sec-websocket-extensions'),
      context,
    )
  let opening: Opening
  let subprotocol: string
  try {
    if (!isClearlyFramed(req)) return server.refuse(res, req, AmbiguousRequest())
    const { codec, protocol, token } = endpoint.readUpgrade(req)
    admission.requireCapacity(token === null)
    const ip = server.ipOf(res, req)
    const principal = token === null ? null : admission.authenticate(token, ip)
    // The refusal is sent when the socket is open; if that fails, there is no client left.
    if (principal instanceof Promise) principal.catch(() => {})
    else if (principal !== null) admission.requireUserCapacity(principal, 0)
    opening = { codec, origin: server.originOf(req), ip, principal }
    subprotocol = protocol
  } catch (error) {
    if (!(error instanceof Problem)) return server.refuse(res, req, error)
    return open(new Refused(error), anyOffered(req))
  }
  open(opening, subprotocol)
}

interface Upgrade {
  res: HttpResponse
  req: HttpRequest
  context: us_socket_context_t
}

/** One of the offered subprotocols: browsers break off a connection without one of theirs. */
function anyOffered(req: HttpRequest): string {
  const offered = offeredProtocols(req)
  return offered.find(protocol => !protocol.startsWith(bearerPrefix)) ?? offered[0] ?? ''
}

/** Before a token in an offered subprotocol. */
export const bearerPrefix = 'bearer.'

/** The subprotocols that the client offers, in its order. */
export function offeredProtocols(req: HttpRequest): string[] {
  return req
    .getHeader('sec-websocket-protocol')
    .split(/\s*,\s*/)
    .filter(Boolean)
}

/** Opens the session when its token has been looked up, and then handles what the client has sent meanwhile. */
function openWhenKnown(
  endpoint: WebSocketEndpoint,
  socket: WebSocket<UserData>,
  pending: PendingSession,
  principal: Promise<Principal>,
): void {
  const data = socket.getUserData()
  const { session } = pending
  data.session = pending
  principal
    .then(found => {
      if (session.isClosed) return
      data.session = session
      endpoint.onOpen(session, found)
      pending.release((message, isBinary) => !session.isClosed && endpoint.onMessage(session, message, isBinary))
    })
    .catch((error: unknown) => {
      pending.release()
      if (!session.isClosed) endpoint.refuse(session, error)
    })
}

/** The token in the Authorization header (RFC 6750); null if there is none. */
export function bearerIn(req: HttpRequest): string | null {
  return /^bearer +(\S+)$/i.exec(req.getHeader('authorization'))?.[1] ?? null
}

function openingOf(socket: WebSocket<UserData>): Opening {
  const { session } = socket.getUserData()
  if ('principal' in session) return session
  throw new Error('A socket was opened twice')
}

function sessionOf(socket: WebSocket<UserData>): Session {
  const { session } = socket.getUserData()
  if (session instanceof Session) return session
  if (session instanceof PendingSession) return session.session
  throw new Error('A socket was used before it was open')
}
