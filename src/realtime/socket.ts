import { STATUS_CODES } from 'node:http'
import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js'
import type { Principal } from '../actors/principal.ts'
import { BadRequest, problem } from '../lib/errors.ts'
import type { Admission } from './admission.ts'
import type { FanOut } from './fan-out.ts'
import type { Native } from './native.ts'
import { findForm, type Form } from './protocol.ts'
import { Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import type { RealtimeSettings } from './settings.ts'

export const path = '/api/realtime'

export const UpgradeRequired = problem(426, 'upgrade-required', 'This address is for WebSockets.')
export const ProtocolUnknown = problem(
  400,
  'protocol-unknown',
  'The subprotocols that are spoken here are json and msgpack.',
)

/** An answer to a request that does not become a WebSocket. */
export interface Refusal {
  status: number
  type?: string
  headers?: Readonly<Record<string, string>> | undefined
  body?: string | Uint8Array | undefined
}

export interface SocketParts {
  native: Native
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

/** What an upgrade request asks for, read before the request is freed. */
interface Wish {
  readonly form: Form
  /** The subprotocol to answer with; empty where none was asked for. */
  readonly protocol: string
  readonly token: string | null
  readonly key: string
  readonly extensions: string
}

/** Lets clients in at /api/realtime. The only file that touches the WebSockets of uWebSockets.js. */
export function serve(app: TemplatedApp, parts: SocketParts): void {
  const { native, sessions, fanOut, settings, now } = parts
  app.ws<UserData>(path, {
    maxPayloadLength: settings.frameBytes,
    idleTimeout: settings.idleTimeoutSeconds,
    sendPingsAutomatically: true,
    maxBackpressure: settings.backlogBytes,
    // Without this, published messages that are too many for a socket are skipped, and nobody hears of it.
    closeOnBackpressureLimit: true,
    // No compression: by far the most of an idle connection's memory would go there.
    upgrade: (res, req, context) => upgrade(parts, res, req, context),
    open(socket) {
      const { form, principal } = openingOf(socket)
      const session = new Session(socket, form, now() + settings.helloTimeoutMs)
      socket.getUserData().session = session
      sessions.add(session)
      if (principal !== null) native.welcome(session, principal)
    },
    message: (socket, message, isBinary) => native.hear(sessionOf(socket), message, isBinary),
    drain: socket => fanOut.drained(sessionOf(socket)),
    close(socket) {
      const session = sessionOf(socket)
      session.lost()
      sessions.remove(session)
      fanOut.leave(session)
    },
  })
  app.get(path, res => refuse(res, parts.toRefusal(UpgradeRequired())))
}

function upgrade(parts: SocketParts, res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
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
    if (admission.obstacle !== null) throw admission.obstacle
    const wish = readWish(req)
    const principal = wish.token === null ? null : admission.authenticate(wish.token)
    if (principal instanceof Promise) principal.then(found => accept(wish, found)).catch(decline)
    else accept(wish, principal)
  } catch (error) {
    decline(error)
  }
}

const bearer = 'bearer.'

/** Clients say who they are by header, subprotocol or query, whichever they can. */
function readWish(req: HttpRequest): Wish {
  const offered = req
    .getHeader('sec-websocket-protocol')
    .split(/\s*,\s*/)
    .filter(Boolean)
  const scalars = req.getQuery('scalars') ?? 'string'
  if (scalars !== 'string' && scalars !== 'number') throw BadRequest({ scalars: 'must be string or number' })
  const form = formOf(offered, scalars)
  return {
    form,
    protocol: offered.length === 0 ? '' : form.protocol,
    token: tokenIn(req, offered),
    key: req.getHeader('sec-websocket-key'),
    extensions: req.getHeader('sec-websocket-extensions'),
  }
}

function formOf(offered: string[], scalars: 'string' | 'number'): Form {
  for (const protocol of offered.length === 0 ? ['json'] : offered) {
    const form = findForm(protocol, scalars)
    if (form !== undefined) return form
  }
  throw ProtocolUnknown()
}

function tokenIn(req: HttpRequest, offered: string[]): string | null {
  const authorization = /^bearer +(\S+)$/i.exec(req.getHeader('authorization'))?.[1]
  const subprotocol = offered.find(protocol => protocol.startsWith(bearer))?.slice(bearer.length)
  return authorization ?? subprotocol ?? (req.getQuery('access_token') || null)
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
