import { buffer } from 'node:stream/consumers'
import PQueue from 'p-queue'
import { Extractor } from '../../../../agents/extraction/extractor.ts'
import { formatOf, Unreadable } from '../../../../agents/extraction/format.ts'
import type { RunRow } from '../../../../agents/runs/run.ts'
import { cutBytes } from '../../../../agents/tools/result.ts'
import type { Bytes } from '../../../../bytes/bytes.ts'
import { Decoder, type FittedImage } from '../../../../media/decoder.ts'
import type { Sql } from '../../../../postgres/sql.ts'
import { listBlobs } from '../../../blobs/store.ts'
import { findContext } from '../../../items/writing/context-store.ts'
import type { ContentItem } from '../../../items/parts.ts'
import type { FileBlob } from '../../../files/schema.ts'
import { countTokens, type Material, type Materials } from './turns.ts'

/**
 * The limit of an attachment, as text or image; larger ones are only named. This and the following are rules of the
 * API.
 */
const attachmentLimitBytes = 5 * 1024 * 1024
const contextLimitBytes = 1024 * 1024
const mostImages = 5

/** Tokens of all attachments together, and of the page's context. */
const mostTokens = 8_000
const bytesPerToken = 3

/** Processor time for one picture. */
const processorMs = 15_000

const imageFormats = new Set(['png', 'jpeg', 'gif', 'webp'])

interface Wanted {
  takesImages: boolean
  signal: AbortSignal
}

/**
 * Reads the material of questions: attachments, and blobs of the page's context. Unreadable ones are left out; the
 * model knows attachments by name. `stop` ends its processes.
 */
export class MaterialReader {
  readonly #sql: Sql
  readonly #bytes: Bytes
  readonly #extractor = new Extractor()
  readonly #decoder = new Decoder(processorMs)
  readonly #pictures = new PQueue({ concurrency: 1 })

  constructor({ sql, bytes }: { sql: Sql; bytes: Bytes }) {
    this.#sql = sql
    this.#bytes = bytes
  }

  async read(run: RunRow, trigger: ContentItem, { takesImages, signal }: Wanted): Promise<Omit<Materials, 'passages'>> {
    const attached = (trigger.parts?.attachments ?? []).map(({ name, blob }) => ({ ...blob, name }))
    const small = attached.filter(({ size }) => size <= attachmentLimitBytes)
    const pictures = small.filter(({ image }) => image !== null && imageFormats.has(image)).slice(0, mostImages)
    const context = await this.#listContext(run)
    const [files, sent, images] = await Promise.all([
      this.#readTexts('file', small, signal),
      this.#readTexts(
        'context',
        context.filter(({ size }) => size <= contextLimitBytes),
        signal,
      ),
      takesImages ? Promise.all(pictures.map(picture => this.#fit(picture, signal))) : [],
    ])
    const fitted = images.flatMap(image => (image === null ? [] : { image: Buffer.from(image.data), type: image.type }))
    return { files, context: sent, images: fitted }
  }

  /** In the order of sending, without deleted ones. */
  async #listContext({ item_type, item_id }: RunRow): Promise<FileBlob[]> {
    const ids = await findContext(this.#sql, item_type, item_id)
    if (ids.length === 0) return []
    const blobs = await listBlobs(this.#sql, ids)
    return ids.flatMap(id => blobs.get(id) ?? [])
  }

  stop(): void {
    this.#extractor.stop()
    this.#pictures.clear()
    this.#decoder.stop()
  }

  /** As many as fit, in order; the last one may be cut. */
  async #readTexts(kind: Material['kind'], blobs: FileBlob[], signal: AbortSignal): Promise<Material[]> {
    const materials: Material[] = []
    let left = mostTokens
    for (const blob of blobs) {
      if (left <= 0) break
      const whole = await this.#readText(blob, signal)
      if (whole === null) continue
      const text = countTokens(whole) <= left ? whole : `${cutBytes(whole, left * bytesPerToken)}\n… (cut)`
      left -= countTokens(text)
      materials.push({ kind, name: blob.name, text })
    }
    return materials
  }

  async #readText(blob: FileBlob, signal: AbortSignal): Promise<string | null> {
    const { key } = blob
    const format = formatOf(blob)
    if (key === null || format === null) return null
    const content = await this.#bytes.open(key)
    if (content === null) return null
    try {
      const parts = await this.#extractor.read({ format, source: await buffer(content) }, signal)
      return parts.length === 0 ? null : parts.map(({ text }) => text).join('\n\n')
    } catch (error) {
      if (error instanceof Unreadable) return null
      throw error
    }
  }

  #fit({ key }: FileBlob, signal: AbortSignal): Promise<FittedImage | null> {
    if (key === null) return Promise.resolve(null)
    const fit = () => this.#bytes.withFile(key, path => this.#decoder.fit(path))
    return this.#pictures.add(fit, { signal })
  }
}
