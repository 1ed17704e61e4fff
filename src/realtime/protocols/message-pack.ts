import { Packr, Unpackr } from 'msgpackr'

// Without msgpackr's own records: clients of other languages read plain MessagePack.
const packr = new Packr({ useRecords: false, variableMapSize: true })
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' })

/** The most nested arrays and maps. The deepest valid frame has three levels. */
const depthLimit = 16

export function packPlain(value: unknown): Buffer {
  return packr.pack(value)
}

/** A packed map of fewer than 65,535 members with one more. */
export function packMore(map: Uint8Array, name: string, value: unknown): Buffer {
  const { sizeBytes, values } = headOf(Buffer.from(map.buffer, map.byteOffset, map.byteLength), 0)
  const size = values / 2 + 1
  // As a map with 16 bits for its size, which any decoder reads.
  const head = Buffer.from([0xde, size >> 8, size & 0xff])
  return Buffer.concat([head, map.subarray(sizeBytes), packr.pack(name), packr.pack(value)])
}

/** Decodes one whole value of plain MessagePack. Throws on anything else, extensions such as the timestamp included. */
export function unpackPlain(bytes: Buffer): unknown {
  requirePlain(bytes)
  return unpackr.unpack(bytes)
}

/**
 * Refuses frames with extensions before msgpackr sees them: it decodes its own whatever its options, and a few bytes of
 * these can cost much (a class that is compiled, a regular expression, a number of thousands of digits).
 */
function requirePlain(bytes: Buffer): void {
  let at = 0
  /** For each array and map that has begun, the number of values still to come; the innermost is last. */
  const missingValues = [1]
  while (missingValues.length > 0) {
    const missing = missingValues.pop()!
    if (missing === 0) continue
    missingValues.push(missing - 1)
    const { sizeBytes, values } = headOf(bytes, at)
    at += sizeBytes
    if (at + values > bytes.length) throw new RangeError('The value is cut off')
    if (values > 0) missingValues.push(values)
    if (missingValues.length > depthLimit + 1) throw new RangeError('The value has too many levels')
  }
  if (at < bytes.length) throw new TypeError('Something follows the value')
}

/** Bytes after the first one of nil, booleans and numbers. */
const scalarBytes: Readonly<Record<number, number>> = {
  ...{ 0xc0: 0, 0xc2: 0, 0xc3: 0, 0xca: 4, 0xcb: 8 },
  ...{ 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8 },
}

/** Bytes that hold the length of binaries, strings, arrays and maps. */
const lengthBytes: Readonly<Record<number, number>> = {
  ...{ 0xc4: 1, 0xc5: 2, 0xc6: 4, 0xd9: 1, 0xda: 2, 0xdb: 4 },
  ...{ 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4 },
}

/** The size of the head of the value at `at`, and how many values follow within it. */
function headOf(bytes: Buffer, at: number): { sizeBytes: number; values: number } {
  const token = bytes.readUInt8(at)
  if (token < 0x80 || token >= 0xe0) return { sizeBytes: 1, values: 0 }
  if (token < 0x90) return { sizeBytes: 1, values: 2 * (token & 0x0f) }
  if (token < 0xa0) return { sizeBytes: 1, values: token & 0x0f }
  if (token < 0xc0) return { sizeBytes: 1 + (token & 0x1f), values: 0 }
  const scalar = scalarBytes[token]
  if (scalar !== undefined) return { sizeBytes: 1 + scalar, values: 0 }
  const width = lengthBytes[token]
  if (width === undefined) throw new TypeError('This is no plain MessagePack')
  const length = bytes.readUIntBE(at + 1, width)
  if (token < 0xdc) return { sizeBytes: 1 + width + length, values: 0 }
  return { sizeBytes: 1 + width, values: token < 0xde ? length : 2 * length }
}
