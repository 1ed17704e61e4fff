import { IsolatedProcess } from '../lib/process/isolated-process.ts'
import type { Image, Rendition } from './image.ts'

/** A request to the decoder process about the picture at `path`. */
export interface Order {
  path: string
  wish: 'head' | 'fitted' | Rendition
  /** Exceeding this processor time ends the process. */
  processorMs: number
}

/** A picture in a format that all vision models read. */
export interface FittedImage {
  data: Uint8Array
  type: 'image/png' | 'image/jpeg'
}

const program = new URL('./decoder-process.ts', import.meta.url)

/**
 * Reads and decodes pictures in a process of its own, one at a time, because image decoders are not hardened against
 * hostile input. Call a method only after the one before has settled; it rejects where no process could be started,
 * which says nothing about the picture.
 */
export class Decoder {
  readonly #processorMs: number
  readonly #process = new IsolatedProcess<Order, Uint8Array | Image | FittedImage>(program)

  /** Processor time, not wall-clock time: whether a picture is given up depends on the picture, not on the load. */
  constructor(processorMs: number) {
    this.#processorMs = processorMs
  }

  /** Makes a rendition as WebP; null where the picture cannot be decoded. */
  make(path: string, rendition: Rendition): Promise<Uint8Array | null> {
    return this.#ask(path, rendition) as Promise<Uint8Array | null>
  }

  /** The format and size that the head of a picture states; null for any other file. */
  inspect(path: string): Promise<Image | null> {
    return this.#ask(path, 'head') as Promise<Image | null>
  }

  /** A picture for language models, of an animation the first frame; null where it cannot be decoded. */
  fit(path: string): Promise<FittedImage | null> {
    return this.#ask(path, 'fitted') as Promise<FittedImage | null>
  }

  /** Ends the process; a running request is answered with null. */
  stop(): void {
    this.#process.stop()
  }

  #ask(path: string, wish: Order['wish']) {
    return this.#process.ask({ path, wish, processorMs: this.#processorMs })
  }
}
