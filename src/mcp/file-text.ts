import type { Readable } from 'node:stream'
import { Extractor } from '../agents/extraction/extractor.ts'
import { documentLimitBytes, formatOf, Unreadable } from '../agents/extraction/format.ts'
import { Download } from '../http/answer/download.ts'
import { problem } from '../lib/errors.ts'
import type { ClientCall } from './client-call.ts'

export const NoText = problem(422, 'file-has-no-text', 'The file has no text that can be read.')

/** A file as the API shows it. */
export interface ShownFile {
  id: number
  name: string
  media_type: string
  size: number
  download_url?: string
}

/**
 * Reads the text of files, one at a time, in a process that ends where a document takes too much. What it reads is what
 * the caller may download.
 */
export class TextReader {
  readonly #extractor = new Extractor()

  /** 422 where the file has no text that can be read. */
  async read(
    { name, media_type, size, download_url }: ShownFile,
    call: ClientCall,
    signal: AbortSignal,
  ): Promise<string> {
    const format = formatOf({ name, media_type })
    if (format === null || download_url === undefined || size > documentLimitBytes) throw NoText()
    const { pathname, search } = new URL(download_url)
    const { body } = await call.ask(pathname, Object.fromEntries(new URLSearchParams(search)))
    if (!(body instanceof Download)) throw NoText()
    try {
      const parts = await this.#extractor.read({ format, source: await toBytes(await body.open()) }, signal)
      return parts.map(({ place, text }) => (place === null ? text : `[${place}]\n${text}`)).join('\n\n')
    } catch (error) {
      if (error instanceof Unreadable) throw NoText()
      throw error
    }
  }

  stop(): void {
    this.#extractor.stop()
  }
}

async function toBytes(source: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of source) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}
