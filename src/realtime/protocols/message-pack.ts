import { Packr, Unpackr } from 'msgpackr'

// Records of msgpackr's own are off: clients of other languages read plain MessagePack.
const packr = new Packr({ useRecords: false, variableMapSize: true })
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' })

/** Levels of arrays and maps in one another. The deepest frame that means something has three. */
const mostLevels = 16

export function packPlain(value: unknown): Buffer {
  return packr.pack(value)
}

/** Throws on anything but one whole value of plain MessagePack: also on extensions, the timestamp among them. */
export function unpackPlain(bytes: Buffer): unknown {
  requirePlain(bytes)
  return unpackr.unpack(bytes)
}

/**
 * msgpackr reads its own extensions whatever it is told, and a few of their bytes can cost much: a class that is
 * compiled, a regular expression, a number of thousands of digits. So it gets to see only frames that have none.
 */
function requirePlain(bytes: Buffer): void {
  let at = 0
  /** How many values are still to come in each array and map that has begun; the innermost is the last. */
  const lacking = [1]
  while (lacking.length > 0) {
    const missing = lacking.pop()!
    if (missing === 0) continue
    lacking.push(missing - 1)
    const { sizeBytes, values } = headOf(bytes, at)
    at += sizeBytes
    if (at + values > bytes.length) throw new RangeError('The value is cut off')
    if (values > 0) lacking.push(values)
    if (lacking.length > mostLevels + 1) throw new RangeError('The value has too many levels')
  }
  if (at < bytes.length) throw new TypeError('Something follows the value')
}

/** Bytes behind the first one of nil, booleans and numbers. */
const scalarBytes: Readonly<Record<number, number>> = {
  ...{ 0xc0: 0, 0xc2: 0, 0xc3: 0, 0xca: 4, 0xcb: 8 },
  ...{ 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8 },
}

/** Bytes in which blobs, texts, arrays and maps say how long they are. */
const lengthBytes: Readonly<Record<number, number>> = {
  ...{ 0xc4: 1, 0xc5: 2, 0xc6: 4, 0xd9: 1, 0xda: 2, 0xdb: 4 },
  ...{ 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4 },
}

/** The bytes of what begins there, without the values in it, and how many of these follow. */
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
