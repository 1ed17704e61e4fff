import type { Readable } from 'node:stream'

/** A range of bytes, from `first` to `last`, both included. */
export interface ByteRange {
  first: number
  last: number
}

/** Bytes as they arrive, or all that there are in a list. */
export type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * Stores the bytes of blobs by key. A key consists of letters, digits and `. - _`, and names immutable bytes. Bytes are
 * streamed, so memory use does not depend on their number.
 */
export interface Bytes {
  /**
   * Stores everything that `source` yields when this resolves, and nothing if it rejects or the process dies before.
   * Each chunk has been written or copied when the next one is requested, so its memory may be reused.
   */
  put(key: string, source: Chunks): Promise<void>
  /**
   * Opens the bytes or a range of them; null where there are none. The caller reads the stream to its end or destroys
   * it.
   */
  open(key: string, range?: ByteRange): Promise<Readable | null>
  /** The number of bytes; null where there are none. */
  sizeOf(key: string): Promise<number | null>
  /**
   * Calls `use` with the path of a file that holds the bytes, for libraries that read files; null where there are none.
   */
  withFile<Result>(key: string, use: (path: string) => Promise<Result>): Promise<Result | null>
  /** Removes bytes; a key without bytes is ignored. */
  remove(keys: readonly string[]): Promise<void>
  /** Removes the remains of unfinished writes that began before `before`. */
  sweep(before: Date): Promise<void>
}
