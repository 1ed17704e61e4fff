import sharp, { type Matrix3x3, type Sharp } from 'sharp'

/** The head of a BMP file, in the form of Windows 3.1 and nearly all programs since. */
export interface Bitmap {
  width: number
  height: number
  /** Rows are stored from the bottom up unless the file says otherwise. */
  isTopDown: boolean
  bitsPerPixel: 1 | 4 | 8 | 24 | 32
  /** Where the rows begin, in bytes. */
  offset: number
  /** Bytes of a row, padded to a multiple of four. */
  rowBytes: number
  /** Colours of 4 bytes each, for 8 bits per pixel and fewer. */
  palette: { offset: number; count: number } | null
}

/** Enough for all that `readHead` reads. */
const headBytes = 54

/** Wider bitmaps are refused: no camera or screen comes near. */
const rowLimit = 50_000

/** Larger bitmaps are not decoded, which takes three times their size in memory. */
export const bitmapLimitBytes = 32 * 1024 * 1024

/** Parses the head of a BMP file; null for any other or truncated file, and for compressed bitmaps, which are rare. */
export function readHead(head: Buffer, sizeBytes: number): Bitmap | null {
  if (head.length < headBytes || head.toString('latin1', 0, 2) !== 'BM') return null
  const [offset, infoBytes] = [head.readUInt32LE(10), head.readUInt32LE(14)]
  const [width, rows] = [head.readInt32LE(18), head.readInt32LE(22)]
  const [bitsPerPixel, compression] = [head.readUInt16LE(28), head.readUInt32LE(30)]
  if (infoBytes < 40 || width <= 0 || width > rowLimit || rows === 0 || !isDepth(bitsPerPixel)) return null
  // Bit fields (3) of 32 bits are, in practice, the usual order of colours.
  if (compression !== 0 && !(compression === 3 && bitsPerPixel === 32)) return null
  const rowBytes = Math.ceil((width * bitsPerPixel) / 32) * 4
  if (offset + rowBytes * Math.abs(rows) > sizeBytes) return null
  const isIndexed = bitsPerPixel <= 8
  const count = Math.min(head.readUInt32LE(46) || 2 ** bitsPerPixel, 2 ** bitsPerPixel)
  return {
    width,
    height: Math.abs(rows),
    isTopDown: rows < 0,
    bitsPerPixel,
    offset,
    rowBytes,
    palette: isIndexed ? { offset: 14 + infoBytes, count } : null,
  }
}

/** Decodes a BMP file into sharp, which cannot read the format. */
export async function decode(file: Buffer, bitmap: Bitmap): Promise<Sharp> {
  const { width, height, isTopDown, bitsPerPixel, offset, rowBytes, palette } = bitmap
  const channels = bitsPerPixel === 32 ? 4 : 3
  const pixels = Buffer.allocUnsafe(width * height * channels)
  for (let y = 0; y < height; y++) {
    const start = offset + rowBytes * (isTopDown ? y : height - 1 - y)
    const row = file.subarray(start, start + rowBytes)
    const target = pixels.subarray(y * width * channels, (y + 1) * width * channels)
    if (palette === null) row.copy(target, 0, 0, target.length)
    else lookUp(row, target, bitsPerPixel, file.subarray(palette.offset, palette.offset + palette.count * 4))
  }
  // Hardly any program uses the fourth byte as opacity, and many leave it at zero.
  const picture = sharp(pixels, { raw: { width, height, channels } }).removeAlpha()
  const colours = await picture.recomb(redForBlue).raw().toBuffer()
  return sharp(colours, { raw: { width, height, channels: 3 } })
}

const redForBlue: Matrix3x3 = [
  [0, 0, 1],
  [0, 1, 0],
  [1, 0, 0],
]

function isDepth(bits: number): bits is Bitmap['bitsPerPixel'] {
  return [1, 4, 8, 24, 32].includes(bits)
}

/** Looks up pixels of 8 bits and fewer, the first in the highest bits. Colours that the palette lacks are black. */
function lookUp(row: Buffer, target: Buffer, bits: number, palette: Buffer): void {
  const perByte = 8 / bits
  const mask = 2 ** bits - 1
  for (let x = 0; x * 3 < target.length; x++) {
    const shift = 8 - bits * ((x % perByte) + 1)
    const colour = ((row[Math.floor(x / perByte)]! >> shift) & mask) * 4
    for (let part = 0; part < 3; part++) target[x * 3 + part] = palette[colour + part] ?? 0
  }
}
