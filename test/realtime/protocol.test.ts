import * as fc from 'fast-check'
import { pack, unpack } from 'msgpackr'
import { describe, expect, test } from 'vitest'
import { hubCodecs } from '../../src/realtime/protocols/signalr/records.ts'
import { findCodec, type Codec } from '../../src/realtime/protocols/protocol.ts'

const form = (protocol: string, scalars: 'string' | 'number') => findCodec(protocol, scalars)!
const toArrayBuffer = (bytes: Uint8Array) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
const decode = (form: Codec, bytes: Uint8Array) => form.decode(toArrayBuffer(bytes) as ArrayBuffer, form.isBinary)

test('both protocols say the same', () => {
  const frame = {
    type: 'event',
    rev: 5_000_000_000,
    at: new Date(0),
    none: null,
    empty: [],
    nested: { is: true, n: [1] },
  }

  const said = ['json', 'msgpack'].map(protocol =>
    decode(form(protocol, 'number'), form(protocol, 'number').encode(frame)),
  )

  expect(said[0]).toEqual({
    type: 'event',
    rev: 5_000_000_000,
    at: '1970-01-01T00:00:00Z',
    nested: { is: true, n: [1] },
  })
  expect(said[1]).toEqual(said[0])
})

test('scalars are strings unless numbers were asked for', () => {
  const frame = { type: 'current', rev: 7 }

  expect(decode(form('json', 'string'), form('json', 'string').encode(frame))).toEqual({ type: 'current', rev: '7' })
  expect(unpack(form('msgpack', 'string').encode(frame))).toEqual({ type: 'current', rev: '7' })
  expect(unpack(form('msgpack', 'number').encode(frame))).toEqual({ type: 'current', rev: 7 })
})

test('a protocol takes only its own kind of frame', () => {
  const text = toArrayBuffer(Buffer.from('{"type":"ping"}')) as ArrayBuffer

  expect(() => form('json', 'string').decode(text, true)).toThrow('text frames')
  expect(() => form('msgpack', 'string').decode(text, false)).toThrow('binary frames')
})

test('whatever bytes a client sends, decoding ends soon, with a value or an error', () => {
  const packed = fc.anything({ maxDepth: 4, withBigInt: true, withDate: true }).map(value => {
    try {
      return pack(value)
    } catch {
      return pack(null)
    }
  })
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 500 }), packed)

  fc.assert(
    fc.property(bytes, bytes => {
      try {
        decode(form('msgpack', 'string'), bytes)
      } catch (error) {
        return error instanceof Error
      }
      return true
    }),
    { numRuns: 2_000 },
  )
  // The client goes on being understood.
  expect(decode(form('msgpack', 'string'), pack({ type: 'ping' }))).toEqual({ type: 'ping' })
})

describe('what is no plain MessagePack is not read', () => {
  const extensions = {
    'a record of msgpackr': [0xd4, 0x72, 0x40, 0x91, 0xa1, 0x6b, 0x01],
    'a long integer': [0xc7, 0x09, 0x42, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0],
    'a regular expression': [0xc7, 0x00, 0x78, 0x92, 0xa2, 0x28, 0x29, 0xa0],
    'a set': [0xd4, 0x73, 0x40, 0x90],
    'an error': [0xc7, 0x00, 0x65, 0x92, 0xa5, ...Buffer.from('Error'), 0xa0],
    'undefined as msgpackr writes it': [0xd4, 0x00, 0x00],
    'a timestamp': [0xd6, 0xff, 0, 0, 0, 0],
    'an extension of 32 bits': [0xc9, 0, 0, 0, 1, 0x05, 0x00],
    'the byte that nothing begins with': [0xc1],
  }

  test.each(Object.entries(extensions))('%s', (_, bytes) => {
    const ping = Buffer.from([0x82, 0xa4, ...Buffer.from('type'), 0xa4, ...Buffer.from('ping'), 0xa1, 0x78, ...bytes])
    const record = Buffer.from([0x92, 0x06, ...bytes])

    expect(() => decode(form('msgpack', 'string'), ping)).toThrow('plain MessagePack')
    expect(() => decode(hubCodecs.get('messagepack')!, Buffer.from([record.length, ...record]))).toThrow(
      'plain MessagePack',
    )
  })
})

test('every kind of value of plain MessagePack is read, and nothing may follow it', () => {
  const kinds: [unknown, number[]][] = [
    [null, [0xc0]],
    [false, [0xc2]],
    [true, [0xc3]],
    [7, [0x07]],
    [-1, [0xff]],
    [200, [0xcc, 200]],
    [258, [0xcd, 1, 2]],
    [65_536, [0xce, 0, 1, 0, 0]],
    [2 ** 32, [0xcf, 0, 0, 0, 1, 0, 0, 0, 0]],
    [-100, [0xd0, 156]],
    [-256, [0xd1, 255, 0]],
    [-65_536, [0xd2, 255, 255, 0, 0]],
    [-(2 ** 32), [0xd3, 255, 255, 255, 255, 0, 0, 0, 0]],
    [0.5, [0xca, 0x3f, 0, 0, 0]],
    [1.5, [0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]],
    ['k', [0xa1, 0x6b]],
    ['k', [0xd9, 1, 0x6b]],
    ['k', [0xda, 0, 1, 0x6b]],
    ['k', [0xdb, 0, 0, 0, 1, 0x6b]],
    [Buffer.from('k'), [0xc4, 1, 0x6b]],
    [Buffer.from('k'), [0xc5, 0, 1, 0x6b]],
    [Buffer.from('k'), [0xc6, 0, 0, 0, 1, 0x6b]],
    [
      [1, []],
      [0x92, 1, 0x90],
    ],
    [
      [1, []],
      [0xdc, 0, 2, 1, 0x90],
    ],
    [
      [1, []],
      [0xdd, 0, 0, 0, 2, 1, 0x90],
    ],
    [{ k: {} }, [0x81, 0xa1, 0x6b, 0x80]],
    [{ k: {} }, [0xde, 0, 1, 0xa1, 0x6b, 0x80]],
    [{ k: {} }, [0xdf, 0, 0, 0, 1, 0xa1, 0x6b, 0x80]],
  ]

  for (const [value, bytes] of kinds) {
    expect(decode(form('msgpack', 'string'), Buffer.from(bytes))).toEqual(value)
    expect(() => decode(form('msgpack', 'string'), Buffer.from([...bytes, 0]))).toThrow('Something follows')
    expect(() => decode(form('msgpack', 'string'), Buffer.from(bytes.slice(0, -1)))).toThrow(RangeError)
  }
})

test('a few bytes that announce millions of values, or thousands of levels, take no memory and no time', () => {
  const announced = Uint8Array.from([0xdd, 0x01, 0xc9, 0xc3, 0x80])
  const deep = new Uint8Array(60_000).fill(0x91)
  const before = process.memoryUsage().rss

  expect(() => decode(form('msgpack', 'string'), announced)).toThrow()
  expect(() => decode(form('msgpack', 'string'), deep)).toThrow()

  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
})
