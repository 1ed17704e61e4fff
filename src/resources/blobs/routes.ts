import { createHash, type Hash } from 'node:crypto'
import { withContent } from '../../http/request/idempotency.ts'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { IdPath } from '../../api/shape.ts'
import { createBlob, createExternal } from './commands.ts'
import { findReadableBlob, type IsInSight } from './find.ts'
import { readForm } from './uploads/form.ts'
import { keepBlob } from './uploads/keep.ts'
import { QuotaExceeded, StorageFull } from './uploads/room.ts'
import { showBlob } from './represent.ts'
import { Blob, BlobTooLarge, ExternalBlob, NoBlob, requestLimitBytes, TooManyParts } from './schema.ts'
import type { NewBlobRow } from './store.ts'

const upload = route('POST /api/blobs', {
  summary: 'Upload a file: a form (multipart/form-data) with one file in a part named blob',
  description:
    'Bytes first, meaning later: the `id` of the answer goes into a message, a file, or a picture. A blob that ' +
    'nothing uses is deleted after a week.',
  auth: 'token or key',
  uploadLimitBytes: requestLimitBytes,
  uploadPart: 'blob',
  creates: true,
  replies: { 201: Blob },
  problems: [NoBlob, TooManyParts, BlobTooLarge, QuotaExceeded, StorageFull],
  async handle({ by, idempotencyKey, upload, origin }, context) {
    const form = upload!
    const content = createHash('sha256')
    const write = (key: string) =>
      readForm(form, file =>
        context.bytes.put(key, context.uploadRoom.watch(idempotencyKey === undefined ? file : hashed(file, content))),
      )
    // A repeated form has another boundary, so the file's content identifies the request.
    const insert = (row: NewBlobRow) =>
      context.globalCommands.run(
        createBlob,
        by,
        row,
        idempotencyKey && withContent(idempotencyKey, row.name, row.media_type, content.digest()),
      )
    return reply(201, showBlob(await keepBlob(context, write, insert), origin))
  },
})

const external = route('POST /api/blobs/external', {
  summary: 'Name a file that is kept elsewhere',
  auth: 'token or key',
  body: ExternalBlob,
  creates: true,
  replies: { 201: Blob },
  async handle({ body, by, idempotencyKey, origin }, { globalCommands }) {
    return reply(201, showBlob(await globalCommands.run(createExternal, by, body, idempotencyKey), origin))
  },
})

const get = (isInSight: IsInSight) =>
  route('GET /api/blobs/{id}', {
    summary: 'Get a blob: for the user who uploaded it, and users who can read something that uses it',
    auth: 'token or key',
    params: IdPath,
    replies: { 200: Blob },
    problems: [NotFound],
    async handle({ params, origin }, context) {
      return reply(200, showBlob(await findReadableBlob(params.id, isInSight, context), origin))
    },
  })

async function* hashed(file: AsyncIterable<Uint8Array>, content: Hash): AsyncGenerator<Uint8Array> {
  for await (const piece of file) {
    content.update(piece)
    yield piece
  }
}

export const routes = (isInSight: IsInSight) => [upload, external, get(isInSight)]
