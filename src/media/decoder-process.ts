import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { setPriority } from 'node:os'
import sharp, { type Sharp } from 'sharp'
import { endNow, takeOrders } from '../lib/process/isolated-process.ts'
import type { FittedImage, Order } from './decoder.ts'
import { pixelLimit, svgLimitBytes, type Image, type ImageFormat, type Rendition } from './image.ts'
import { readSvgSize, svgHeadBytes } from './svg.ts'

takeOrders(handle)

sharp.cache(false)
sharp.concurrency(1)
// Other loaders, such as PDF or formats read through other programs, are not needed.
sharp.block({ operation: ['VipsForeignLoad'] })
const formats = ['JpegFile', 'PngFile', 'WebpFile', 'NsgifFile', 'TiffFile', 'SvgBuffer']
sharp.unblock({ operation: formats.map(name => `VipsForeignLoad${name}`) })

/** How often the processor time of an order is checked. */
const watchMs = 50

/** Language models scale larger pictures down themselves, as their vendors say, and charge for what was sent. */
const modelPixels = 1568

async function handle({ path, wish, processorMs }: Order): Promise<Uint8Array | Image | FittedImage | null> {
  const before = process.cpuUsage()
  // Decoding runs on other threads, which nothing but the end of the process stops.
  const watch = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    if ((user + system) / 1000 > processorMs) endNow()
  }, watchMs)
  try {
    if (wish === 'head') return await inspect(path)
    return wish === 'fitted' ? await fitForModel(path) : await make(path, wish)
  } catch {
    // Any error means that the file is not a picture.
    return null
  } finally {
    clearInterval(watch)
  }
}

async function inspect(path: string): Promise<Image | null> {
  const head = await sharp(path, { limitInputPixels: false, failOn: 'error', sequentialRead: true }).metadata()
  const { format, width, height, orientation = 1, pages, pageHeight } = head
  if (!isFormat(format) || !width || !height) return null
  const frame = pages !== undefined && pageHeight !== undefined ? pageHeight : height
  // From 5 on, the picture is stored rotated by a quarter turn.
  return orientation < 5 ? { format, width, height: frame } : { format, width: frame, height: width }
}

function isFormat(format: string | undefined): format is ImageFormat {
  return ['png', 'jpeg', 'gif', 'webp', 'tiff'].includes(format ?? '')
}

async function make(path: string, rendition: Rendition): Promise<Uint8Array> {
  // Pictures can wait; messages and uploads should not.
  setPriority(10)
  return fit(await decodeFile(path), rendition)
    .webp({ quality: 82 })
    .toBuffer()
}

/** JPEG for photographs, PNG for all else. Not WebP, which servers of local models cannot read. */
async function fitForModel(path: string): Promise<FittedImage> {
  setPriority(10)
  const picture = await decodeFile(path)
  const { format, hasAlpha } = await picture.metadata()
  const fitted = picture.autoOrient().resize(modelPixels, modelPixels, { fit: 'inside', withoutEnlargement: true })
  return format === 'jpeg' || (format === 'webp' && !hasAlpha)
    ? { data: await fitted.jpeg({ quality: 85 }).toBuffer(), type: 'image/jpeg' }
    : { data: await fitted.png().toBuffer(), type: 'image/png' }
}

async function decodeFile(path: string): Promise<Sharp> {
  const { size } = await stat(path)
  const head = Buffer.concat(await createReadStream(path, { end: svgHeadBytes - 1 }).toArray())
  const options = { limitInputPixels: pixelLimit, failOn: 'error', sequentialRead: true } as const
  // SVG as bytes, so that it has no folder from which it could include files.
  const isSvg = size <= svgLimitBytes && readSvgSize(head.toString()) !== null
  return sharp(isSvg ? await readFile(path) : path, options)
}

function fit(picture: Sharp, rendition: Rendition): Sharp {
  const upright = picture.autoOrient()
  if (rendition === 'avatar') return upright.resize(256, 256, { fit: 'cover' })
  const longest = rendition === 'thumbnail' ? 512 : 2048
  return upright.resize(longest, longest, { fit: 'inside', withoutEnlargement: true })
}
