import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ByteRange, Bytes, Chunks } from './bytes.ts'

export interface S3Settings {
  bucket: string
  /** Null: Amazon S3. */
  endpoint: string | null
  region: string
  /** Null: the permissions of the machine's role. */
  keys: { accessKeyId: string; secretAccessKey: string } | null
  isPathStyle: boolean
  /** How long the store may be silent before a request is repeated, three times in all. */
  silenceMs?: number
}

/**
 * A guess: longer than stores take for any request made here, and longer than the HTTP server keeps a client that does
 * not read its download, while nothing is read from the store either.
 */
const defaultSilenceMs = 30_000

/** The memory that each upload takes. S3 requires parts of at least 5 MiB, and at most 10,000 of them: 80 GiB. */
const partBytes = 8 * 1024 * 1024

/** S3 deletes at most this many objects in one request. */
const deleteLimit = 1000

/** Bytes in a bucket of an S3-compatible store, which any number of nodes can share. */
export class S3Bytes implements Bytes {
  readonly #client: S3Client
  readonly #bucket: string

  constructor({ bucket, endpoint, region, keys, isPathStyle, silenceMs = defaultSilenceMs }: S3Settings) {
    this.#bucket = bucket
    this.#client = new S3Client({
      region,
      forcePathStyle: isPathStyle,
      ...(endpoint !== null && { endpoint }),
      ...(keys !== null && { credentials: keys }),
      // Some compatible stores do not know the checksums that the client would send.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // `requestTimeout` would end an upload that takes as long, even while it progresses.
      requestHandler: { connectionTimeout: silenceMs, socketTimeout: silenceMs },
    })
  }

  async put(key: string, source: Chunks): Promise<void> {
    const place = { Bucket: this.#bucket, Key: key }
    const part = Buffer.allocUnsafe(partBytes)
    let length = 0
    let parts: Parts | null = null
    try {
      for await (const piece of source) {
        for (let start = 0; start < piece.length;) {
          // A full part is sent only when more follows, so that a body that fits into one part needs no multipart
          // upload.
          if (length === partBytes) {
            parts ??= await Parts.begin(this.#client, place)
            await parts.add(part)
            length = 0
          }
          const end = Math.min(piece.length, start + partBytes - length)
          part.set(piece.subarray(start, end), length)
          length += end - start
          start = end
        }
      }
      const rest = part.subarray(0, length)
      if (parts === null) await this.#client.send(new PutObjectCommand({ ...place, Body: rest }))
      else await parts.finish(rest)
    } catch (error) {
      await parts?.abort()
      throw error
    }
  }

  async open(key: string, range?: ByteRange): Promise<Readable | null> {
    try {
      const part = range && { Range: `bytes=${range.first}-${range.last}` }
      const { Body } = await this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key: key, ...part }))
      // In Node it is always a stream of Node.
      return Body as Readable
    } catch (error) {
      return unlessMissing(error)
    }
  }

  async sizeOf(key: string): Promise<number | null> {
    try {
      const { ContentLength } = await this.#client.send(new HeadObjectCommand({ Bucket: this.#bucket, Key: key }))
      return ContentLength ?? 0
    } catch (error) {
      return unlessMissing(error)
    }
  }

  async withFile<Result>(key: string, use: (path: string) => Promise<Result>): Promise<Result | null> {
    const source = await this.open(key)
    if (source === null) return null
    const folder = await mkdtemp(join(tmpdir(), 'parley-'))
    try {
      const path = join(folder, 'bytes')
      await pipeline(source, createWriteStream(path))
      return await use(path)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (let i = 0; i < keys.length; i += deleteLimit) {
      const Objects = keys.slice(i, i + deleteLimit).map(Key => ({ Key }))
      await this.#client.send(new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } }))
    }
  }

  /**
   * Unfinished uploads are invisible, and aborted unless this process dies; a lifecycle rule of the bucket removes the
   * rest.
   */
  async sweep(): Promise<void> {}
}

interface Place {
  Bucket: string
  Key: string
}

/** A multipart upload, invisible until it is finished. */
class Parts {
  readonly #client: S3Client
  readonly #place: Place & { UploadId: string }
  readonly #sent: CompletedPart[] = []

  private constructor(client: S3Client, place: Place, id: string) {
    this.#client = client
    this.#place = { ...place, UploadId: id }
  }

  static async begin(client: S3Client, place: Place): Promise<Parts> {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(place))
    if (UploadId === undefined) throw new Error('The store began an upload in parts and gave no id')
    return new Parts(client, place, UploadId)
  }

  async add(part: Uint8Array): Promise<void> {
    const PartNumber = this.#sent.length + 1
    const { ETag } = await this.#client.send(new UploadPartCommand({ ...this.#place, PartNumber, Body: part }))
    this.#sent.push({ PartNumber, ETag })
  }

  async finish(rest: Uint8Array): Promise<void> {
    if (rest.length > 0) await this.add(rest)
    const MultipartUpload = { Parts: this.#sent }
    await this.#client.send(new CompleteMultipartUploadCommand({ ...this.#place, MultipartUpload }))
  }

  async abort(): Promise<void> {
    // The reason why the upload failed matters more than an error of aborting it.
    await this.#client.send(new AbortMultipartUploadCommand(this.#place)).catch(() => {})
  }
}

function unlessMissing(error: unknown): null {
  const { name, $metadata } = Object(error) as { name?: string; $metadata?: { httpStatusCode?: number } }
  if (name === 'NoSuchKey' || name === 'NotFound' || $metadata?.httpStatusCode === 404) return null
  throw error
}
