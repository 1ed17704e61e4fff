import { bitmapLimitBytes, readHead } from './bitmap.ts'
import type { Bytes } from '../bytes/bytes.ts'
import { Decoder } from './decoder.ts'
import { svgLimitBytes, type Image, type Rendition } from './image.ts'
import { readSvgSize, svgHeadBytes } from './svg.ts'
import { FairQueue } from '../lib/fair-queue.ts'

const all: Rendition[] = ['thumbnail', 'preview', 'avatar']

/**
 * What pictures may take of a processor: one that takes longer was made to. Heads take a hundredth of their limit, and are
 * waited for by whoever uploads them.
 */
const processorMs = { head: 1_000, rendition: 15_000 }

/** How PNG, JPEG, GIF, WebP and TIFF begin, large TIFF too: nobody has to look into anything else. */
const signature = /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF[^]{4}WEBP|II[*+]\0|MM\0[*+])/
const signatureBytes = 12

/** Renditions that could not be made, and are not tried again as long as they are known; the oldest go first. */
const failedLimit = 10_000

/** Renditions that may wait on this node, and those of one person's pictures; more are not made. Guesses. */
const waitingLimit = { ofAll: 200, ofOne: 100 }

/**
 * Makes smaller versions of pictures, one at a time: a page of thumbnails must not keep both cores from answering. Any
 * bytes may be thrown at it: what cannot be decoded has no renditions. Uploaders take turns, so that a crowd of pictures
 * that take long keeps nobody waiting but those who look at them.
 */
export class Renditions {
  readonly #bytes: Bytes
  readonly #decoder = new Decoder(processorMs.rendition)
  readonly #heads = { decoder: new Decoder(processorMs.head), turns: new FairQueue() }
  readonly #turns = new FairQueue()
  readonly #making = new Map<string, Promise<string | null>>()
  readonly #failed = new Set<string>()

  constructor(bytes: Bytes) {
    this.#bytes = bytes
  }

  /**
   * What kind of picture some bytes are, and how large, as their head says; null for anything else. More of them may be
   * damaged.
   */
  async inspect(key: string, uploader: number): Promise<Image | null> {
    const size = (await this.#bytes.sizeOf(key)) ?? 0
    const head = size === 0 ? Buffer.alloc(0) : await this.#readHead(key, size)
    const bitmap = size <= bitmapLimitBytes ? readHead(head, size) : null
    if (bitmap !== null) return { format: 'bmp', width: bitmap.width, height: bitmap.height }
    const drawn = size <= svgLimitBytes ? readSvgSize(head.toString()) : null
    if (drawn !== null) return { format: 'svg', ...drawn }
    if (!signature.test(head.toString('latin1', 0, signatureBytes))) return null
    const { decoder, turns } = this.#heads
    return this.#bytes.withFile(key, path => turns.add(uploader, () => decoder.inspect(path)))
  }

  /**
   * The key of a rendition of the bytes that somebody uploaded, made now if it was never asked for; null where the picture
   * cannot be decoded, or too many wait.
   */
  async of(key: string, rendition: Rendition, uploader: number): Promise<string | null> {
    const name = `${key}.${rendition}`
    if ((await this.#bytes.sizeOf(name)) !== null) return name
    if (this.#failed.has(name)) return null
    const making = this.#making.get(name)
    if (making !== undefined) return making
    if (this.#turns.size >= waitingLimit.ofAll || this.#turns.of(uploader) >= waitingLimit.ofOne) return null
    const made = this.#turns
      .add(uploader, () => this.#make(key, rendition, name))
      .finally(() => this.#making.delete(name))
    this.#making.set(name, made)
    return made
  }

  /** Where the renditions of some bytes are, if they have been made. */
  static keysOf(key: string): string[] {
    return all.map(rendition => `${key}.${rendition}`)
  }

  /** Those who wait are told that there is none. */
  stop(): void {
    this.#turns.clear()
    this.#decoder.stop()
    this.#heads.turns.clear()
    this.#heads.decoder.stop()
  }

  async #make(key: string, rendition: Rendition, name: string): Promise<string | null> {
    const made = await this.#bytes.withFile(key, path => this.#decoder.make(path, rendition))
    if (made === null) {
      // Bytes that are missing may be put back.
      if ((await this.#bytes.sizeOf(key)) !== null) this.#fail(name)
      return null
    }
    await this.#bytes.put(name, one(made))
    return name
  }

  /** Bytes never change: what they are no picture of now they will not be later, and trying takes long. */
  #fail(name: string): void {
    this.#failed.add(name)
    if (this.#failed.size > failedLimit) this.#failed.delete(this.#failed.values().next().value!)
  }

  async #readHead(key: string, size: number): Promise<Buffer> {
    const head = await this.#bytes.open(key, { first: 0, last: Math.min(size, svgHeadBytes) - 1 })
    return head === null ? Buffer.alloc(0) : Buffer.concat(await head.toArray())
  }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
