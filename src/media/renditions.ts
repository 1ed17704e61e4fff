import { LRUCache } from 'lru-cache'
import { readBitmapSize } from './bitmap.ts'
import type { Bytes } from '../bytes/bytes.ts'
import { Decoder } from './decoder.ts'
import { svgLimitBytes, type Image, type Rendition } from './image.ts'
import { readSvgSize, svgHeadBytes } from './svg.ts'
import { FairQueue } from '../lib/fair-queue.ts'

const all: Rendition[] = ['thumbnail', 'preview', 'avatar']

/**
 * The processor time that a picture may take; only crafted ones take longer. Heads take a hundredth of their limit, and
 * the upload waits for them.
 */
const processorMs = { head: 1_000, rendition: 15_000 }

/** The first bytes of PNG, JPEG, GIF, WebP and TIFF, including BigTIFF. Other files need not be decoded. */
const signature = /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF[^]{4}WEBP|II[*+]\0|MM\0[*+])/
const signatureBytes = 12

/** Renditions that failed and are not tried again while they are remembered; the oldest are evicted first. */
const failedLimit = 10_000

/** The most renditions that may wait on this node, and of one user's pictures; beyond that none are made. Guesses. */
const waitingLimit = { ofAll: 200, ofOne: 100 }

/**
 * Makes smaller versions of pictures, one at a time: a page of thumbnails must not occupy both cores. Safe for hostile
 * bytes: what cannot be decoded has no renditions. Uploaders take turns, so that slow pictures of one hold up only
 * requests for these.
 */
export class Renditions {
  readonly #bytes: Bytes
  readonly #decoder = new Decoder(processorMs.rendition)
  readonly #heads = { decoder: new Decoder(processorMs.head), turns: new FairQueue({ atOnce: 1 }) }
  readonly #turns = new FairQueue({ atOnce: 1 })
  readonly #making = new Map<string, Promise<string | null>>()
  readonly #failed = new LRUCache<string, true>({ max: failedLimit })

  constructor(bytes: Bytes) {
    this.#bytes = bytes
  }

  /**
   * The format and size that the head of a picture states; null for any other file. The rest of the file may be
   * damaged.
   */
  async inspect(key: string, uploader: number): Promise<Image | null> {
    const size = (await this.#bytes.sizeOf(key)) ?? 0
    const head = size === 0 ? Buffer.alloc(0) : await this.#readHead(key, size)
    const bitmap = readBitmapSize(head, size)
    if (bitmap !== null) return { format: 'bmp', ...bitmap }
    const drawn = size <= svgLimitBytes ? readSvgSize(head.toString()) : null
    if (drawn !== null) return { format: 'svg', ...drawn }
    if (!signature.test(head.toString('latin1', 0, signatureBytes))) return null
    const { decoder, turns } = this.#heads
    return this.#bytes.withFile(key, path => turns.add(uploader, () => decoder.inspect(path)))
  }

  /**
   * The key of a rendition of a user's upload, made now if it does not exist; null where the picture cannot be decoded,
   * or too many wait.
   */
  async of(key: string, rendition: Rendition, uploader: number): Promise<string | null> {
    const name = `${key}.${rendition}`
    if ((await this.#bytes.sizeOf(name)) !== null) return name
    if (this.#failed.has(name)) return null
    const making = this.#making.get(name)
    if (making !== undefined) return making
    if (this.#turns.size >= waitingLimit.ofAll || this.#turns.countOf(uploader) >= waitingLimit.ofOne) return null
    const made = this.#turns
      .add(uploader, () => this.#make(key, rendition, name))
      .finally(() => this.#making.delete(name))
    this.#making.set(name, made)
    return made
  }

  /** The keys of all renditions of some bytes, made or not. */
  static keysOf(key: string): string[] {
    return all.map(rendition => `${key}.${rendition}`)
  }

  /** Drops what waits and ends the decoders; running requests get null. */
  stop(): void {
    this.#turns.clear()
    this.#decoder.stop()
    this.#heads.turns.clear()
    this.#heads.decoder.stop()
  }

  async #make(key: string, rendition: Rendition, name: string): Promise<string | null> {
    const made = await this.#bytes.withFile(key, path => this.#decoder.make(path, rendition))
    if (made === null) {
      // Bytes are immutable: what failed now would fail again, and trying takes long. Missing ones may be restored later.
      if ((await this.#bytes.sizeOf(key)) !== null) this.#failed.set(name, true)
      return null
    }
    await this.#bytes.put(name, [made])
    return name
  }

  async #readHead(key: string, size: number): Promise<Buffer> {
    const head = await this.#bytes.open(key, { first: 0, last: Math.min(size, svgHeadBytes) - 1 })
    return head === null ? Buffer.alloc(0) : Buffer.concat(await head.toArray())
  }
}
