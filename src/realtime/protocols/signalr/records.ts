import { z } from 'zod'
import { packPlain, unpackPlain } from '../message-pack.ts'
import { anyOrigin, hubName, perUser, writeFrame, type Codec, type Frame } from '../protocol.ts'

/** A message of a hub client, in either protocol. */
export type HubMessage =
  | { readonly kind: 'invocation'; readonly id: string | null; readonly target: string; readonly args: unknown[] }
  | { readonly kind: 'ping' | 'close' | 'other' }

/**
 * One of the two SignalR protocols. A frame becomes the invocation of a client method with the name that clients
 * subscribe to: `a11:message_created`. Numbers are always JSON numbers.
 */
export interface HubCodec extends Codec {
  decode(message: ArrayBuffer, isBinary: boolean): HubMessage[]
  /** The Completion of an invocation. */
  complete(id: string, outcome: { result: boolean } | { error: string }): Uint8Array
  readonly ping: Uint8Array
  /** The topic of all sessions with this codec. */
  readonly everybody: string
}

/** Ends every record of the JSON protocol, and the handshake of both protocols. */
export const separator = '\x1e'

/** Message types of the SignalR hub protocol. */
const types = { invocation: 1, completion: 3, ping: 6, close: 7 } as const

const Invocation = z.object({
  target: z.string().max(64),
  arguments: z.array(z.unknown()).max(8),
  invocationId: z.string().max(64).nullish(),
})
const AnyRecord = z.looseObject({ type: z.number() })
const AnyArray = z.tuple([z.number()], z.unknown())

/** The client method for a frame and its argument; null for frames that the hub does not send. */
function toCall(frame: Frame, origin: string): { target: string; argument: string } | null {
  if (frame[perUser]) return null
  const write = (argument: unknown) => writeFrame(argument, 'number', origin)
  const { type, ...rest } = frame
  if (type === 'event') {
    const { event: _event, app_id, rev: _rev, prev: _prev, id, ...shown } = rest
    const event = frame[hubName] ?? frame.event
    return { target: `a${app_id}:${event}`, argument: write({ id, action: event, ...shown }) }
  }
  if (type === 'personal') {
    const { event, id, ...shown } = rest
    return { target: String(event), argument: write({ id, action: event, ...shown }) }
  }
  if (type === 'online') return { target: type, argument: write(rest.users) }
  if (type !== 'typing' || rest.is_typing !== true) return null
  const { app_id: id, actor } = rest
  const shown = { id, action: type, actor, entity: { id, type: 'app' } }
  return { target: `a${id}:${type}`, argument: write(shown) }
}

const shared = (protocol: string) => ({
  protocol,
  scalars: 'number' as const,
  isPerUser: true,
  topic: (app: number, event: string) => `a${app}:${event}:${protocol}`,
  everybody: `everybody:${protocol}`,
})

const toLine = (text: string) => Buffer.from(text + separator)

export const jsonHub: HubCodec = {
  ...shared('hub-json'),
  isBinary: false,
  encode(frame, origin = anyOrigin) {
    const call = toCall(frame, origin)
    if (call === null) return null
    return toLine(`{"type":${types.invocation},"target":${JSON.stringify(call.target)},"arguments":[${call.argument}]}`)
  },
  decode(message) {
    const lines = Buffer.from(message).toString().split(separator)
    if (lines.pop() !== '') throw new TypeError('The last record has no end')
    return lines.map(line => toHubMessage(AnyRecord.parse(JSON.parse(line))))
  },
  complete: (id, outcome) => toLine(JSON.stringify({ type: types.completion, invocationId: id, ...outcome })),
  ping: toLine(JSON.stringify({ type: types.ping })),
}

function toHubMessage(record: z.output<typeof AnyRecord>): HubMessage {
  if (record.type === types.ping) return { kind: 'ping' }
  if (record.type === types.close) return { kind: 'close' }
  if (record.type !== types.invocation) return { kind: 'other' }
  const { target, arguments: args, invocationId: id = null } = Invocation.parse(record)
  return { kind: 'invocation', id, target, args }
}

/** Result kinds of a Completion in the MessagePack protocol. */
const resultKinds = { error: 1, value: 3 } as const

const messagepackHub: HubCodec = {
  ...shared('hub-messagepack'),
  isBinary: true,
  encode(frame, origin = anyOrigin) {
    const call = toCall(frame, origin)
    if (call === null) return null
    // Encoded by way of JSON, so that both protocols agree.
    return pack([types.invocation, {}, null, call.target, [JSON.parse(call.argument)], []])
  },
  decode(message, isBinary) {
    if (!isBinary) throw new TypeError('This protocol has binary frames')
    return split(Buffer.from(message)).map(bytes => decodeRecord(AnyArray.parse(unpackPlain(bytes))))
  },
  complete(id, outcome) {
    const result = 'error' in outcome ? [resultKinds.error, outcome.error] : [resultKinds.value, outcome.result]
    return pack([types.completion, {}, id, ...result])
  },
  ping: pack([types.ping]),
}

function decodeRecord([type, _headers, invocationId, target, args]: unknown[]): HubMessage {
  return toHubMessage(
    type === types.invocation ? { type, invocationId, target, arguments: args } : { type: Number(type) },
  )
}

/**
 * A record after its length as a VarInt: seven bits per byte, the lowest first; the eighth bit is set where more
 * follow.
 */
function pack(record: unknown[]): Buffer {
  const bytes = packPlain(record)
  const prefix: number[] = []
  let length = bytes.length
  do {
    prefix.push((length & 0x7f) | (length > 0x7f ? 0x80 : 0))
    length >>= 7
  } while (length > 0)
  return Buffer.concat([Buffer.from(prefix), bytes])
}

/** The records in one message of the client. */
function split(message: Buffer): Buffer[] {
  const records: Buffer[] = []
  for (let at = 0; at < message.length;) {
    let length = 0
    let shift = 0
    let byte: number
    do {
      // Four bytes can state 256 MiB; larger messages never get here.
      if (at >= message.length || shift > 21) throw new TypeError('A record has no length')
      byte = message[at++]!
      length |= (byte & 0x7f) << shift
      shift += 7
    } while (byte > 0x7f)
    if (at + length > message.length) throw new TypeError('A record is cut off')
    records.push(message.subarray(at, at + length))
    at += length
  }
  return records
}

/** By protocol name. A map, because an object has inherited members like `constructor`. */
export const hubCodecs: ReadonlyMap<string, HubCodec> = new Map([
  ['json', jsonHub],
  ['messagepack', messagepackHub],
])

const Handshake = z.object({ protocol: z.string(), version: z.number() })

/**
 * Parses the handshake, which chooses the protocol, and returns what followed it in the message. Throws on anything
 * else.
 */
export function readHandshake(message: ArrayBuffer): { codec: HubCodec | null; rest: ArrayBuffer } {
  const bytes = Buffer.from(message)
  const end = bytes.indexOf(separator)
  const { protocol, version } = Handshake.parse(JSON.parse(bytes.toString('utf8', 0, end)))
  const codec = version === 1 ? hubCodecs.get(protocol) : undefined
  return { codec: codec ?? null, rest: message.slice(end + 1) }
}

/** The handshake response, in both protocols. */
export const toHandshakeAnswer = (error?: string) => toLine(JSON.stringify(error === undefined ? {} : { error }))
