import { unzipSync } from 'fflate'
import { Unreadable } from '../format.ts'

/** Office files have a few dozen entries; large presentations some hundreds. */
const entryLimit = 2_000

/** The limit of all entries together, by the archive's own sizes. An entry that unpacks to more is cut there. */
const unpackedLimitBytes = 200 * 1024 * 1024

/** The entries of an office file. */
export class Archive {
  readonly #bytes: Uint8Array
  readonly names: ReadonlySet<string>

  /** Reads the directory without unpacking. Throws Unreadable where it is no archive, or a hostile one. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    const names = new Set<string>()
    let entries = 0
    let unpackedBytes = 0
    scan(bytes, ({ name, originalSize }) => {
      entries++
      unpackedBytes += originalSize
      if (entries > entryLimit) throw new Unreadable(`It has more than ${entryLimit} entries.`)
      if (unpackedBytes > unpackedLimitBytes) throw new Unreadable('It unpacks to more than 200 MiB.')
      // Programs differ in which of two entries with one name they read.
      if (names.has(name)) throw new Unreadable('It has an entry twice.')
      names.add(name)
      return false
    })
    this.names = names
  }

  /** The text of an entry; null where there is none. */
  read(name: string): string | null {
    if (!this.names.has(name)) return null
    const found = scan(this.#bytes, entry => entry.name === name)[name]
    return found === undefined ? null : new TextDecoder().decode(found)
  }

  require(name: string): string {
    const found = this.read(name)
    if (found === null) throw new Unreadable('It is no office file.')
    return found
  }
}

function scan(bytes: Uint8Array, filter: (entry: { name: string; originalSize: number }) => boolean) {
  try {
    return unzipSync(bytes, { filter })
  } catch (cause) {
    if (cause instanceof Unreadable) throw cause
    throw new Unreadable('It is damaged, or no office file.', { cause })
  }
}
