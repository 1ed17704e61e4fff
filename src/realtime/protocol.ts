import { randomUUID } from 'node:crypto'
import { writeJson, type Scalars } from '../lib/json.ts'
import { packPlain, unpackPlain } from './message-pack.ts'

/** No member of what is encoded: other clients are not told of it. */
export const hubName = Symbol('hubName')

/** Neither: clients of the hub are told each what it sees, in another frame. */
export const isOwn = Symbol('isOwn')

/**
 * Stands in frames for the origin that their links begin with, until they are encoded: what is told is put together
 * once, also where clients know this server under several addresses. Nobody can guess it, so no text has it.
 */
export const anyOrigin = `https://${randomUUID()}.invalid`

/** What the server says, before it is encoded: `type` and that type's members. */
export interface Frame {
  readonly type: string
  /** What the event is called on the hub, where that is not what it is called elsewhere. */
  readonly [hubName]?: string
  readonly [isOwn]?: boolean
  readonly [member: string]: unknown
}

/**
 * One way of writing frames: a protocol and a form of scalars, for clients of one `Address`. Sessions with the same form
 * share every encoded frame, so there is one object for each form, and no more than a handful for each address.
 */
export interface Form {
  /** The subprotocol that clients ask for. */
  readonly protocol: string
  readonly scalars: Scalars
  readonly isBinary: boolean
  /** True where its clients are told each what it sees, of the few events that are not the same for all. */
  readonly isOwn: boolean
  /** Null for a frame that clients of this form are not told of. */
  encode(frame: Frame, origin?: string): Uint8Array | null
  /** Reads what a client sent; throws on anything that is not in this protocol. */
  decode(message: ArrayBuffer, isBinary: boolean): unknown
  /** The topic under which sessions of this form hear of such an event of an app, or of all that happens in it. */
  topic(app: number, event: string): string
}

/** A form of the native protocol, whose clients are told of everything. */
interface NativeForm extends Form {
  encode(frame: Frame, origin?: string): Uint8Array
}

/** The JSON of a frame, or of a part of one, with links that begin with the origin. */
export function writeFrame(frame: unknown, scalars: Scalars, origin: string): string {
  return writeJson(frame, scalars).replaceAll(anyOrigin, origin)
}

const json = (scalars: Scalars): NativeForm => ({
  protocol: 'json',
  scalars,
  isBinary: false,
  isOwn: false,
  encode: (frame, origin = anyOrigin) => Buffer.from(writeFrame(frame, scalars, origin)),
  decode(message, isBinary) {
    if (isBinary) throw new TypeError('This protocol has text frames')
    return JSON.parse(Buffer.from(message).toString())
  },
  topic: app => `a${app}:json:${scalars}`,
})

const msgpack = (scalars: Scalars): NativeForm => ({
  protocol: 'msgpack',
  scalars,
  isBinary: true,
  isOwn: false,
  // By way of JSON, so that both protocols say the same: what is dropped, quoted and rounded is decided in one place.
  encode: (frame, origin = anyOrigin) => packPlain(JSON.parse(writeFrame(frame, scalars, origin))),
  decode(message, isBinary) {
    if (!isBinary) throw new TypeError('This protocol has binary frames')
    return unpackPlain(Buffer.from(message))
  },
  topic: app => `a${app}:msgpack:${scalars}`,
})

const forms = [json('string'), json('number'), msgpack('string'), msgpack('number')]

/** Undefined for a protocol that is not spoken here. */
export function findForm(protocol: string, scalars: Scalars): NativeForm | undefined {
  return forms.find(form => form.protocol === protocol && form.scalars === scalars)
}

/** The same protocol with another form of scalars. */
export function withScalars(form: Form, scalars: Scalars): Form {
  return findForm(form.protocol, scalars) ?? form
}
