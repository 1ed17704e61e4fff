import type { Readable } from 'node:stream'

/** A part of some bytes: from `first` to `last`, both included. */
export interface ByteRange {
  first: number
  last: number
}

/**
 * Where the bytes of blobs are kept, by key. A key is letters, digits and `. - _`, and names the same bytes for as long
 * as it exists. Bytes are streamed, so what is held of them in memory does not depend on how many they are.
 */
export interface Bytes {
  /**
   * Keeps all that `source` gives once this resolves; nothing where it rejects, or the process dies before. A piece was
   * written or copied when the next one is asked for, so that its memory may be used again.
   */
  put(key: string, source: AsyncIterable<Uint8Array>): Promise<void>
  /** The bytes, or a part of them; null where there are none. Whoever opens them reads to the end or destroys them. */
  open(key: string, range?: ByteRange): Promise<Readable | null>
  /** How many bytes there are; null where there are none. */
  sizeOf(key: string): Promise<number | null>
  /** Calls `use` with the path of a file that holds the bytes, for libraries that read files; null where there are none. */
  withFile<Result>(key: string, use: (path: string) => Promise<Result>): Promise<Result | null>
  /** What is not there is as good as removed. */
  remove(keys: readonly string[]): Promise<void>
  /** Removes what writes have left behind that were never finished, and began before `before`. */
  sweep(before: Date): Promise<void>
}
