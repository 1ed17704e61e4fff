import { randomUUID } from 'node:crypto'
import { writeJson, type Scalars } from '../../api/json.ts'
import { packPlain, unpackPlain } from './message-pack.ts'

/** The name of an event on the hub. A symbol, because it is not encoded for other clients. */
export const hubName = Symbol('hubName')

/** Marks an event of which clients of the hub each get what their user may see. A symbol, as it is not encoded. */
export const perUser = Symbol('isOwn')

/**
 * Stands in frames for the origin that their links begin with, until they are encoded: a frame is made once, also where
 * clients know this server under several origins. It cannot be guessed, so no text has it.
 */
export const anyOrigin = `https://${randomUUID()}.invalid`

/** What the server says, before it is encoded: `type` and that type's members. */
export interface Frame {
  readonly type: string
  /** What the event is called on the hub, where that is not what it is called elsewhere. */
  readonly [hubName]?: string
  readonly [perUser]?: boolean
  readonly [member: string]: unknown
}

/**
 * One way of writing frames: a protocol and a form of scalars, for clients of one `ClientOrigin`. Sessions with one codec
 * share every encoded frame, so there is one object for each, and no more than a handful for each origin.
 */
export interface Codec {
  /** The subprotocol that clients ask for. */
  readonly protocol: string
  readonly scalars: Scalars
  readonly isBinary: boolean
  /** True where clients each get what their user may see, of the few events that are not the same for all. */
  readonly isPerUser: boolean
  /** Null for a frame that clients of this codec do not get. */
  encode(frame: Frame, origin?: string): Uint8Array | null
  /** Reads what a client sent; throws on anything that is not in this protocol. */
  decode(message: ArrayBuffer, isBinary: boolean): unknown
  /** The topic under which such an event of an app, or all of them, is published to sessions with this codec. */
  topic(app: number, event: string): string
}

/** A codec of the native protocol, whose clients get every frame. */
interface NativeCodec extends Codec {
  encode(frame: Frame, origin?: string): Uint8Array
}

/** The JSON of a frame, or of a part of one, with links that begin with the origin. */
export function writeFrame(frame: unknown, scalars: Scalars, origin: string): string {
  return writeJson(frame, scalars).replaceAll(anyOrigin, origin)
}

const json = (scalars: Scalars): NativeCodec => ({
  protocol: 'json',
  scalars,
  isBinary: false,
  isPerUser: false,
  encode: (frame, origin = anyOrigin) => Buffer.from(writeFrame(frame, scalars, origin)),
  decode(message, isBinary) {
    if (isBinary) throw new TypeError('This protocol has text frames')
    return JSON.parse(Buffer.from(message).toString())
  },
  topic: app => `a${app}:json:${scalars}`,
})

const msgpack = (scalars: Scalars): NativeCodec => ({
  protocol: 'msgpack',
  scalars,
  isBinary: true,
  isPerUser: false,
  // By way of JSON, so that both protocols say the same: what is dropped, quoted and rounded is decided in one place.
  encode: (frame, origin = anyOrigin) => packPlain(JSON.parse(writeFrame(frame, scalars, origin))),
  decode(message, isBinary) {
    if (!isBinary) throw new TypeError('This protocol has binary frames')
    return unpackPlain(Buffer.from(message))
  },
  topic: app => `a${app}:msgpack:${scalars}`,
})

const codecs = [json('string'), json('number'), msgpack('string'), msgpack('number')]

/** Undefined for a protocol that is not spoken here. */
export function findCodec(protocol: string, scalars: Scalars): NativeCodec | undefined {
  return codecs.find(codec => codec.protocol === protocol && codec.scalars === scalars)
}

/** The codec of a protocol with another form of scalars. */
export function withScalars(codec: Codec, scalars: Scalars): Codec {
  return findCodec(codec.protocol, scalars) ?? codec
}
