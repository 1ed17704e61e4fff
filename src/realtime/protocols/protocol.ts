import { randomUUID } from 'node:crypto'
import { writeJson, type Scalars } from '../../api/json.ts'
import { packMore, packPlain, unpackPlain } from './message-pack.ts'

/** The name of an event on the hub. A symbol, because it is not encoded for other clients. */
export const hubName = Symbol('hubName')

/** Marks an event that looks different for each user of the hub. A symbol, because it is not encoded. */
export const perUser = Symbol('isOwn')

/**
 * A placeholder in frames for the origin of their links, replaced when they are encoded: a frame is made once, even
 * where clients reach this server under several origins. Random, so that no user's text can contain it.
 */
export const anyOrigin = `https://${randomUUID()}.invalid`

/** A frame of the server before it is encoded: `type` and the members of that type. */
export interface Frame {
  readonly type: string
  /** The event's name on the hub, where it differs. */
  readonly [hubName]?: string
  readonly [perUser]?: boolean
  readonly [member: string]: unknown
}

/**
 * Encodes frames: a protocol and a form of numbers, for the clients of one `ClientOrigin`. Sessions with one codec
 * share every encoded frame, so there is one object for each, and only a handful for each origin.
 */
export interface Codec {
  /** The WebSocket subprotocol that selects it (RFC 6455 section 1.9). */
  readonly protocol: string
  readonly scalars: Scalars
  readonly isBinary: boolean
  /** True where each client gets its user's version of the few events that differ between users. */
  readonly isPerUser: boolean
  /** Null for a frame that clients of this codec do not get. */
  encode(frame: Frame, origin?: string): Uint8Array | null
  /**
   * An encoded event with its `key`, for the sessions of the user who made it. Absent where clients of this codec get no
   * keys.
   */
  withKey?(bytes: Uint8Array, key: string): Uint8Array
  /** Decodes a frame of a client; throws where it is not of this protocol. */
  decode(message: ArrayBuffer, isBinary: boolean): unknown
  /**
   * The topic under which the event, or every event of the app where `event` is empty, is published to sessions with
   * this codec.
   */
  topic(app: number, event: string): string
}

/** A codec of the native protocol, whose clients get every frame. */
interface NativeCodec extends Codec {
  encode(frame: Frame, origin?: string): Uint8Array
}

/** The JSON of a frame or of a part of one; its links begin with `origin`. */
export function writeFrame(frame: unknown, scalars: Scalars, origin: string): string {
  return writeJson(frame, scalars).replaceAll(anyOrigin, origin)
}

function native(protocol: 'json' | 'msgpack', scalars: Scalars): NativeCodec {
  const isBinary = protocol === 'msgpack'
  return {
    protocol,
    scalars,
    isBinary,
    isPerUser: false,
    encode(frame, origin = anyOrigin) {
      const json = writeFrame(frame, scalars, origin)
      // By way of JSON, so that dropping, quoting and rounding is decided in one place for both protocols.
      return isBinary ? packPlain(JSON.parse(json)) : Buffer.from(json)
    },
    // Added to the bytes that all others get: to encode the event once more would take many times as long.
    withKey: isBinary
      ? (bytes, key) => packMore(bytes, 'key', key)
      : (bytes, key) => Buffer.concat([bytes.subarray(0, -1), Buffer.from(`,"key":${JSON.stringify(key)}}`)]),
    decode(message, isBinaryMessage) {
      if (isBinaryMessage !== isBinary) throw new TypeError(`This protocol has ${isBinary ? 'binary' : 'text'} frames`)
      const bytes = Buffer.from(message)
      return isBinary ? unpackPlain(bytes) : JSON.parse(bytes.toString())
    },
    topic: app => `a${app}:${protocol}:${scalars}`,
  }
}

const codecs = [
  native('json', 'string'),
  native('json', 'number'),
  native('msgpack', 'string'),
  native('msgpack', 'number'),
]

/** Undefined for an unknown protocol. */
export function findCodec(protocol: string, scalars: Scalars): NativeCodec | undefined {
  return codecs.find(codec => codec.protocol === protocol && codec.scalars === scalars)
}

/** The codec of a protocol with another form of numbers. */
export function withScalars(codec: Codec, scalars: Scalars): Codec {
  return findCodec(codec.protocol, scalars) ?? codec
}
