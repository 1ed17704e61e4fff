import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { privateFile, privateFolder } from '../lib/data/directory.ts'
import type { ByteRange, Bytes, Chunks } from './bytes.ts'

/** Bytes in a local folder. Nodes share them only where the folder is on a shared file system. */
export class DiskBytes implements Bytes {
  readonly #folder: string
  readonly #incoming: string

  /** The folder is created by the first write. */
  constructor(folder: string) {
    this.#folder = folder
    this.#incoming = join(folder, 'incoming')
  }

  async put(key: string, source: Chunks): Promise<void> {
    const path = this.#toPath(key)
    const draft = join(this.#incoming, randomUUID())
    try {
      await mkdir(this.#incoming, { recursive: true, mode: privateFolder })
      await mkdir(dirname(path), { recursive: true, mode: privateFolder })
      await write(draft, source)
      await rename(draft, path)
      await synchronize(dirname(path))
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }

  async open(key: string, range?: ByteRange): Promise<Readable | null> {
    try {
      const handle = await open(this.#toPath(key))
      const part = range && { start: range.first, end: range.last }
      return createReadStream('', { fd: handle, ...part, highWaterMark: 256 * 1024 })
    } catch (error) {
      return unlessMissing(error)
    }
  }

  async sizeOf(key: string): Promise<number | null> {
    try {
      return (await stat(this.#toPath(key))).size
    } catch (error) {
      return unlessMissing(error)
    }
  }

  async withFile<Result>(key: string, use: (path: string) => Promise<Result>): Promise<Result | null> {
    return (await this.sizeOf(key)) === null ? null : use(this.#toPath(key))
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) await rm(this.#toPath(key), { force: true })
  }

  async sweep(before: Date): Promise<void> {
    for (const name of await readdir(this.#incoming).catch(() => [] as string[])) {
      const path = join(this.#incoming, name)
      const found = await stat(path).catch(unlessMissing)
      if (found !== null && found.mtime < before) await rm(path, { force: true })
    }
  }

  /** 65,536 folders: with ten million blobs, each holds a few hundred files. */
  #toPath(key: string): string {
    if (!/^[\w-][\w.-]{3,}$/.test(key)) throw new Error('A key of bytes is not one that this server made')
    return join(this.#folder, key.slice(0, 2), key.slice(2, 4), key)
  }
}

async function write(path: string, source: Chunks): Promise<void> {
  const file = await open(path, 'wx', privateFile)
  try {
    for await (const chunk of source) await file.writeFile(chunk)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Until the folder is synchronised too, a power failure may lose a new name. */
async function synchronize(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function unlessMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
