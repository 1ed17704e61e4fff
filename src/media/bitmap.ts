/** All that `readBitmapSize` reads. */
const headBytes = 34

/**
 * The size in pixels that the head of a BMP file states; null for any other file, and for one that is shorter than the
 * head says. Bitmaps are not decoded: they are served as they are.
 */
export function readBitmapSize(head: Buffer, sizeBytes: number): { width: number; height: number } | null {
  if (head.length < headBytes || head.toString('latin1', 0, 2) !== 'BM' || head.readUInt32LE(14) < 40) return null
  const [width, rows, bitsPerPixel] = [head.readInt32LE(18), head.readInt32LE(22), head.readUInt16LE(28)]
  // Rows from the top down are stored with a negative number of them.
  const height = Math.abs(rows)
  if (width <= 0 || height === 0 || ![1, 4, 8, 16, 24, 32].includes(bitsPerPixel)) return null
  const isCompressed = ![0, 3].includes(head.readUInt32LE(30))
  const rowBytes = Math.ceil((width * bitsPerPixel) / 32) * 4
  return !isCompressed && head.readUInt32LE(10) + rowBytes * height > sizeBytes ? null : { width, height }
}
