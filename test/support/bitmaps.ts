/** Red, green, blue. */
export type Colour = [number, number, number]

interface Written {
  rows: Colour[][]
  bitsPerPixel: 1 | 4 | 8 | 24 | 32
  isTopDown?: boolean
}

/** A BMP file, as programs write them: uncompressed. */
export function writeBitmap({ rows, bitsPerPixel, isTopDown = false }: Written): Buffer {
  const [width, height] = [rows[0]!.length, rows.length]
  const colours = [...new Map(rows.flat().map(colour => [colour.join(), colour])).values()]
  const palette = bitsPerPixel > 8 ? [] : colours.flatMap(([red, green, blue]) => [blue, green, red, 0])
  const offset = 54 + palette.length
  const rowBytes = Math.ceil((width * bitsPerPixel) / 32) * 4
  const file = Buffer.alloc(offset + rowBytes * height)
  file.write('BM')
  file.writeUInt32LE(file.length, 2)
  file.writeUInt32LE(offset, 10)
  file.writeUInt32LE(40, 14)
  file.writeInt32LE(width, 18)
  file.writeInt32LE(isTopDown ? -height : height, 22)
  file.writeUInt16LE(1, 26)
  file.writeUInt16LE(bitsPerPixel, 28)
  file.writeUInt32LE(palette.length / 4, 46)
  file.set(palette, 54)
  for (const [y, row] of (isTopDown ? rows : rows.toReversed()).entries()) {
    const start = offset + y * rowBytes
    for (const [x, colour] of row.entries()) {
      const [red, green, blue] = colour
      if (bitsPerPixel > 8) file.set([blue, green, red], start + x * (bitsPerPixel / 8))
      else {
        const index = colours.findIndex(known => known.join() === colour.join())
        const bit = x * bitsPerPixel
        file[start + (bit >> 3)]! |= index << (8 - bitsPerPixel - (bit & 7))
      }
    }
  }
  return file
}
