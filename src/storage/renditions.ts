import PQueue from 'p-queue'
import sharp, { type Sharp } from 'sharp'
import type { Readable } from 'node:stream'
import { bitmapLimitBytes, decode, headBytes, readHead, type Bitmap } from './bitmap.ts'
import type { Bytes } from './bytes.ts'
import { isUnavailable } from './unavailable.ts'

/** What is read by its content as a picture: by their names in sharp. */
export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp' | 'tiff' | 'svg' | 'bmp'

export interface Image {
  format: ImageFormat
  width: number
  height: number
}

/** A smaller version of a picture. All are WebP, made once and kept beside their original. */
export type Rendition = 'thumbnail' | 'preview' | 'avatar'

const all: Rendition[] = ['thumbnail', 'preview', 'avatar']

/** More would take too much memory to decode: this many take up to 200 MB. */
const pixelLimit = 50_000_000

/** SVG is read whole, so that it has no folder from which it could include files. */
const svgLimitBytes = 2 * 1024 * 1024

/** A picture that takes longer to decode was made to. */
const decodeSeconds = 15

/** Renditions that could not be made, and are not tried again as long as they are known; the oldest go first. */
const failedLimit = 10_000

/** Renditions that may wait on this node; more requests are told that there is none. A guess. */
const waitingLimit = 200

/**
 * Makes smaller versions of pictures on sharp's threads, one at a time: a page of thumbnails must not keep both cores
 * from answering. Any bytes may be thrown at it: what cannot be decoded has no renditions.
 */
export class Renditions {
  readonly #bytes: Bytes
  readonly #queue = new PQueue({ concurrency: 1 })
  readonly #making = new Map<string, Promise<string | null>>()
  readonly #failed = new Set<string>()

  constructor(bytes: Bytes) {
    this.#bytes = bytes
    sharp.cache(false)
    sharp.concurrency(1)
    // What decodes anything else, such as PDF or formats read through other programs, is not needed.
    sharp.block({ operation: ['VipsForeignLoad'] })
    sharp.unblock({ operation: formats.map(name => `VipsForeignLoad${name}`) })
  }

  /** What kind of picture some bytes are, and how large; null for anything else, and for what is damaged. */
  async inspect(key: string): Promise<Image | null> {
    try {
      const bitmap = await this.#readBitmap(key)
      if (bitmap !== null) return { format: 'bmp', width: bitmap.width, height: bitmap.height }
      return await this.#bytes.withFile(key, async path => {
        const {
          format,
          width,
          height,
          orientation = 1,
          pages,
          pageHeight,
        } = await (await this.#open(key, path)).metadata()
        if (!isFormat(format) || !width || !height) return null
        const frame = pages !== undefined && pageHeight !== undefined ? pageHeight : height
        // From 5 on, the picture is stored lying on its side.
        return orientation < 5 ? { format, width, height: frame } : { format, width: frame, height: width }
      })
    } catch (error) {
      return unlessPicture(error)
    }
  }

  /** The key of a rendition, made now if it was never asked for; null where the picture cannot be decoded. */
  async of(key: string, rendition: Rendition): Promise<string | null> {
    const name = `${key}.${rendition}`
    if ((await this.#bytes.sizeOf(name)) !== null) return name
    if (this.#failed.has(name)) return null
    const making = this.#making.get(name)
    if (making !== undefined) return making
    if (this.#queue.size >= waitingLimit) return null
    const made = this.#queue.add(() => this.#make(key, rendition, name)).finally(() => this.#making.delete(name))
    this.#making.set(name, made)
    return made
  }

  /** Where the renditions of some bytes are, if they have been made. */
  static keysOf(key: string): string[] {
    return all.map(rendition => `${key}.${rendition}`)
  }

  async #make(key: string, rendition: Rendition, name: string): Promise<string | null> {
    try {
      const made = await this.#bytes.withFile(key, async path =>
        fit(await this.#open(key, path), rendition)
          .webp({ quality: 82 })
          .toBuffer(),
      )
      if (made === null) return null
      await this.#bytes.put(name, one(made))
      return name
    } catch (error) {
      const none = unlessPicture(error)
      this.#fail(name)
      return none
    }
  }

  /** Bytes never change: what they are no picture of now they will not be later, and trying takes long. */
  #fail(name: string): void {
    this.#failed.add(name)
    if (this.#failed.size > failedLimit) this.#failed.delete(this.#failed.values().next().value!)
  }

  async #open(key: string, path: string): Promise<Sharp> {
    const bitmap = await this.#readBitmap(key)
    if (bitmap !== null && bitmap.width * bitmap.height <= pixelLimit)
      return (await decode(await readAll(await this.#bytes.open(key)), bitmap)).timeout({ seconds: decodeSeconds })
    const options = { limitInputPixels: pixelLimit, failOn: 'error', sequentialRead: true } as const
    const svg = await this.#readSvg(key)
    return sharp(svg ?? path, options).timeout({ seconds: decodeSeconds })
  }

  /** The head of a BMP file; null for everything else. */
  async #readBitmap(key: string): Promise<Bitmap | null> {
    const size = await this.#bytes.sizeOf(key)
    if (size === null || size < headBytes || size > bitmapLimitBytes) return null
    return readHead(await readAll(await this.#bytes.open(key, { first: 0, last: headBytes - 1 })), size)
  }

  /** An SVG's text; null for everything else. */
  async #readSvg(key: string): Promise<Buffer | null> {
    const size = await this.#bytes.sizeOf(key)
    if (size === null || size === 0 || size > svgLimitBytes) return null
    const head = await readAll(await this.#bytes.open(key, { first: 0, last: Math.min(size, 1024) - 1 }))
    if (!/^\uFEFF?\s*<(?:[?!]|svg)/i.test(head.toString('utf8'))) return null
    return readAll(await this.#bytes.open(key))
  }
}

const formats = ['JpegFile', 'PngFile', 'WebpFile', 'NsgifFile', 'TiffFile', 'SvgBuffer']

function fit(picture: Sharp, rendition: Rendition): Sharp {
  const upright = picture.autoOrient()
  if (rendition === 'avatar') return upright.resize(256, 256, { fit: 'cover' })
  const longest = rendition === 'thumbnail' ? 512 : 2048
  return upright.resize(longest, longest, { fit: 'inside', withoutEnlargement: true })
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function isFormat(format: string | undefined): format is ImageFormat {
  return ['png', 'jpeg', 'gif', 'webp', 'tiff', 'svg'].includes(format ?? '')
}

async function readAll(stream: Readable | null): Promise<Buffer> {
  return stream === null ? Buffer.alloc(0) : Buffer.concat(await stream.toArray())
}

/** sharp throws plain errors for what it cannot decode; errors of the system have a code, and are no picture's fault. */
function unlessPicture(error: unknown): null {
  if (isUnavailable(error) || (error as NodeJS.ErrnoException).code !== undefined) throw error
  return null
}
