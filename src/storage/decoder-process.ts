import { open, readFile, stat } from 'node:fs/promises'
import { setPriority } from 'node:os'
import sharp, { type Sharp } from 'sharp'
import { bitmapLimitBytes, decode, readHead } from './bitmap.ts'
import type { Made, Order } from './decoder.ts'
import { pixelLimit, svgLimitBytes, type Rendition } from './image.ts'
import { readSvgSize, svgHeadBytes } from './svg.ts'

// Pictures can wait; whoever writes and reads messages should not. And nobody needs this process without its parent.
setPriority(10)
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', (order: Order) => void make(order).then(made => process.send!(made)))

sharp.cache(false)
sharp.concurrency(1)
// What decodes anything else, such as PDF or formats read through other programs, is not needed.
sharp.block({ operation: ['VipsForeignLoad'] })
const formats = ['JpegFile', 'PngFile', 'WebpFile', 'NsgifFile', 'TiffFile', 'SvgBuffer']
sharp.unblock({ operation: formats.map(name => `VipsForeignLoad${name}`) })

async function make({ path, rendition }: Order): Promise<Made> {
  try {
    return await fit(await decodeFile(path), rendition)
      .webp({ quality: 82 })
      .toBuffer()
  } catch {
    return null
  }
}

async function decodeFile(path: string): Promise<Sharp> {
  const { size } = await stat(path)
  const head = await readStart(path)
  const bitmap = size <= bitmapLimitBytes ? readHead(head, size) : null
  if (bitmap !== null && bitmap.width * bitmap.height <= pixelLimit) return decode(await readFile(path), bitmap)
  const options = { limitInputPixels: pixelLimit, failOn: 'error', sequentialRead: true } as const
  // SVG as bytes, so that it has no folder from which it could include files.
  const isSvg = size <= svgLimitBytes && readSvgSize(head.toString()) !== null
  return sharp(isSvg ? await readFile(path) : path, options)
}

async function readStart(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(svgHeadBytes), 0, svgHeadBytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

function fit(picture: Sharp, rendition: Rendition): Sharp {
  const upright = picture.autoOrient()
  if (rendition === 'avatar') return upright.resize(256, 256, { fit: 'cover' })
  const longest = rendition === 'thumbnail' ? 512 : 2048
  return upright.resize(longest, longest, { fit: 'inside', withoutEnlargement: true })
}
