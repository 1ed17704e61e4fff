import * as fc from 'fast-check'
import { pack, unpack } from 'msgpackr'
import { expect, test } from 'vitest'
import { findForm, type Form } from '../../src/realtime/protocol.ts'

const form = (protocol: string, scalars: 'string' | 'number') => findForm(protocol, scalars)!
const toArrayBuffer = (bytes: Uint8Array) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
const decode = (form: Form, bytes: Uint8Array) => form.decode(toArrayBuffer(bytes) as ArrayBuffer, form.isBinary)

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

test('a few bytes that announce millions of values, or thousands of levels, take no memory and no time', () => {
  const announced = Uint8Array.from([0xdd, 0x01, 0xc9, 0xc3, 0x80])
  const deep = new Uint8Array(60_000).fill(0x91)
  const before = process.memoryUsage().rss

  expect(() => decode(form('msgpack', 'string'), announced)).toThrow()
  expect(() => decode(form('msgpack', 'string'), deep)).toThrow()

  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
})
