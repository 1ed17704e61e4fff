import { Busboy, type BusboyEvents, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { ClientGone, type Upload } from '../../../http/request/upload.ts'
import { Problem } from '../../../lib/errors.ts'
import { blobLimitBytes, BlobTooLarge, NoBlob, toFileName, TooManyParts } from '../schema.ts'
import type { Sent } from './keep.ts'
import { anyBytes, toMediaType } from './media-types.ts'

/**
 * Reads the one file of a form while it arrives: `put` gets its bytes. Rejects with 422 where there is not exactly one
 * file named blob, where it is too large, and where there is too much else; what `put` has kept by then is of no use.
 */
export async function readForm(upload: Upload, put: (file: AsyncIterable<Uint8Array>) => Promise<void>): Promise<Sent> {
  const parser = createParser(upload.contentType)
  const failed = new AbortController()
  const files: { sent: Sent; file: BusboyFileStream; kept: Promise<void> }[] = []
  let isOther = false
  let isBroken = false
  const take: BusboyEvents['file'] = (field, file, name, _encoding, mediaType) => {
    // A file that is cut off fails its reader, and the form as a whole.
    file.on('error', () => (isBroken = true))
    if (field !== 'blob' || files.length > 0) {
      isOther ||= field === 'blob'
      file.resume()
      return
    }
    const kept = put(piecesOf(file, upload))
    kept.catch((error: unknown) => failed.abort(error))
    // Browsers write quotes in names like that, and nothing else.
    const written = (name ?? '').replaceAll('%22', '"')
    const fileName = toFileName(written)
    files.push({ sent: { name: fileName, mediaType: toSaid(mediaType, fileName) }, file, kept })
  }
  parser.on('file', take)
  // Thrown through the parser: it would read on to the end of its piece, at 20 µs for each part of five bytes.
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) parser.on(limit, refuseParts)
  try {
    await pipeline(upload, parser, { signal: failed.signal })
    await Promise.all(files.map(({ kept }) => kept))
  } catch (error) {
    const isOurs = failed.signal.aborted && !isBroken
    for (const { file, kept } of files) {
      file.destroy(error as Error)
      await kept.catch(() => {})
    }
    if (isOurs) throw failed.signal.reason
    // Else the form is broken, which is its sender's doing.
    throw error instanceof Problem || error instanceof ClientGone ? error : NoBlob()
  }
  const [only] = files
  if (only === undefined) throw NoBlob()
  if (isOther || only.sent.name === '' || only.file.bytesRead === 0) throw NoBlob()
  if (only.file.truncated) throw BlobTooLarge()
  return only.sent
}

/**
 * The pieces of a file as they came, each from memory of the upload, which gets it back when a piece from elsewhere is
 * asked for: all pieces of it were written by then. A stream's own iterator would put pieces together in new memory.
 */
async function* piecesOf(file: Readable, upload: Upload): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = []
  let news = Promise.withResolvers<void>()
  let isOver = false
  let failure: Error | null = null
  file.on('data', (piece: Uint8Array) => {
    pieces.push(piece)
    file.pause()
    news.resolve()
  })
  finished(file).then(
    () => {
      isOver = true
      news.resolve()
    },
    (error: Error) => {
      failure = error
      news.resolve()
    },
  )
  let memory: ArrayBufferLike | null = null
  for (;;) {
    const piece = pieces.shift()
    if (piece !== undefined) {
      if (memory !== null && memory !== piece.buffer) upload.recycle(memory)
      memory = piece.buffer
      yield piece
    } else if (failure !== null) {
      throw failure
    } else if (isOver) {
      return
    } else {
      file.resume()
      await news.promise
      news = Promise.withResolvers()
    }
  }
}

/** The parser takes a part for text that says nothing of its type: a name that says otherwise is believed rather. */
function toSaid(mediaType: string, name: string): string {
  const type = toMediaType(name, '')
  return mediaType === 'text/plain' && type !== anyBytes && !type.startsWith('text/') ? '' : mediaType
}

function refuseParts(): never {
  throw TooManyParts()
}

function createParser(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      isPartAFile: (_field, _type, name) => name !== undefined,
      // Nothing waits in the parser: a piece is read while it is written, where what is thrown is caught.
      highWaterMark: 1,
      limits: { fileSize: blobLimitBytes, fieldSize: 65_536, fields: 20, files: 3, parts: 24, headerPairs: 100 },
    })
  } catch {
    // It takes multipart forms with a boundary and nothing else.
    throw NoBlob()
  }
}
