import { Busboy, type BusboyEvents, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { ClientGone, type ReadableUpload } from '../../../http/request/body/upload.ts'
import type { Known } from '../../../http/request/names/known-members.ts'
import { invalid, Problem } from '../../../lib/errors.ts'
import { blobLimitBytes, BlobTooLarge, noBlob, toFileName, TooManyParts } from '../schema.ts'
import type { Sent } from './keep.ts'
import { anyBytes, toMediaType } from './media-types.ts'

/**
 * Reads the one file of a multipart form (RFC 7578) while it arrives; `put` gets its bytes. 422 unless there is exactly
 * one file named blob, within the limits; bytes already `put` are then of no use.
 */
export async function readForm(
  upload: ReadableUpload,
  put: (file: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<Sent> {
  const parser = createParser(upload.contentType)
  const failed = new AbortController()
  const files: { sent: Sent; file: BusboyFileStream; kept: Promise<void> }[] = []
  const otherNames = new Set<string>()
  let isOther = false
  let isBroken = false
  const take: BusboyEvents['file'] = (field, file, name, _encoding, mediaType) => {
    // A truncated file fails its reader, and the whole form.
    file.on('error', () => (isBroken = true))
    if (field !== 'blob') otherNames.add(field)
    if (field !== 'blob' || files.length > 0) {
      isOther ||= field === 'blob'
      file.resume()
      return
    }
    const kept = put(piecesOf(file, upload))
    kept.catch((error: unknown) => failed.abort(error))
    // Browsers encode quotes in names like this, and nothing else.
    const written = (name ?? '').replaceAll('%22', '"')
    const fileName = toFileName(written)
    files.push({ sent: { name: fileName, mediaType: toSaid(mediaType, fileName) }, file, kept })
  }
  parser.on('file', take)
  parser.on('field', field => otherNames.add(field))
  // Thrown through the parser, which would otherwise read on to the end of its chunk, at 20 µs for each part of five
  // bytes.
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
    // Any other error means a malformed form.
    if (error instanceof Problem || error instanceof ClientGone) throw error
    throw noBlob('The form is cut off, or its parts are not separated by the boundary of its Content-Type.')
  }
  const [only] = files
  if (only === undefined) throw withoutBlob(otherNames)
  if (isOther) throw noBlob('The form has more than one file named blob: send one at a time.')
  if (only.sent.name === '') throw noBlob('The file in the part named blob has no name: give its part a filename.')
  if (only.file.bytesRead === 0) throw noBlob('The file in the part named blob is empty.')
  if (only.file.truncated) throw BlobTooLarge()
  upload.unknown.look(form, Object.fromEntries(Array.from(otherNames, name => [name, null])))
  if (upload.unknown.errors !== undefined) throw invalid(upload.unknown.errors)
  return only.sent
}

/** What is known of the parts of a form. */
const form: Known = { members: new Map([['blob', { isInput: true, known: null }]]), items: null }

function withoutBlob(names: Set<string>): Problem {
  if (names.has('blob')) return noBlob('The part named blob is not a file: give it a filename.')
  const [first] = names
  const others = first === undefined ? 'has no part' : `has a part named ${first.slice(0, 64)}, and none`
  return noBlob(`The form ${others} named blob, which is to be the file.`)
}

/**
 * The chunks of a file as they arrive, in the upload's memory, which is recycled when a chunk in other memory is
 * requested: all earlier ones were written by then. The stream's own iterator would join chunks in new memory.
 */
async function* piecesOf(file: Readable, upload: ReadableUpload): AsyncGenerator<Uint8Array> {
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

/** The parser reports text for a part without a type: then the name's extension decides. */
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
      // No buffering in the parser: a chunk is read while it is written, so that exceptions are caught.
      highWaterMark: 1,
      limits: { fileSize: blobLimitBytes, fieldSize: 65_536, fields: 20, files: 3, parts: 24, headerPairs: 100 },
    })
  } catch {
    const sent = contentType === '' ? 'no Content-Type' : `Content-Type: ${contentType.slice(0, 128)}`
    throw noBlob(`The body is to be a form: Content-Type: multipart/form-data; boundary=…. The request has ${sent}.`)
  }
}
