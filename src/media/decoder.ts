import { IsolatedProcess } from '../lib/process/isolated-process.ts'
import type { Image, Rendition } from './image.ts'

/** What the process is asked for of the picture whose bytes are at `path`. */
export interface Order {
  path: string
  wish: 'head' | 'fitted' | Rendition
  /** Taking more of a processor ends the process. */
  processorMs: number
}

/** A picture in a format that every language model with images reads. */
export interface FittedImage {
  data: Uint8Array
  type: 'image/png' | 'image/jpeg'
}

const program = new URL('./decoder-process.ts', import.meta.url)

/**
 * Reads and decodes pictures in a process of its own, one at a time: what does so is not written for people who mean harm.
 * A method is not to be called before the one before has answered, and rejects where no process could be started, which
 * says nothing of the picture.
 */
export class Decoder {
  readonly #processorMs: number
  readonly #process = new IsolatedProcess<Order, Uint8Array | Image | FittedImage>(program)

  /** Of a processor, not on the clock: a picture is given up for what it takes, not for what else the machine does. */
  constructor(processorMs: number) {
    this.#processorMs = processorMs
  }

  /** The rendition as WebP; null where the picture cannot be decoded. */
  make(path: string, rendition: Rendition): Promise<Uint8Array | null> {
    return this.#ask(path, rendition) as Promise<Uint8Array | null>
  }

  /** What kind of picture it is, and how large, as its head says; null for anything else. */
  inspect(path: string): Promise<Image | null> {
    return this.#ask(path, 'head') as Promise<Image | null>
  }

  /** The picture, of one that moves the first frame, as language models take it; null where it cannot be decoded. */
  fit(path: string): Promise<FittedImage | null> {
    return this.#ask(path, 'fitted') as Promise<FittedImage | null>
  }

  /** Whoever waits for a picture is told that there is none. */
  stop(): void {
    this.#process.stop()
  }

  #ask(path: string, wish: Order['wish']) {
    return this.#process.ask({ path, wish, processorMs: this.#processorMs })
  }
}
