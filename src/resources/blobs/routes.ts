import { reply, route } from '../../http/route.ts'
import { NotFound } from '../../lib/errors.ts'
import { IdPath } from '../../lib/shape.ts'
import { createExternal } from './commands.ts'
import { findReadableBlob } from './find.ts'
import { readForm } from './form.ts'
import { keepBlob } from './keep.ts'
import { showBlob } from './represent.ts'
import { Blob, BlobTooLarge, ExternalBlob, NoBlob, requestLimitBytes } from './schema.ts'

const upload = route({
  method: 'POST',
  path: '/api/blobs',
  summary: 'Upload a file: a form (multipart/form-data) with one file in a part named blob',
  auth: 'token or key',
  uploadLimitBytes: requestLimitBytes,
  replies: { 201: Blob },
  problems: [NoBlob, BlobTooLarge],
  async handle(request) {
    const form = request.upload!
    const blob = await keepBlob(request, key => readForm(form, file => request.bytes.put(key, file)))
    return reply(201, showBlob(blob, request.origin))
  },
})

const external = route({
  method: 'POST',
  path: '/api/blobs/external',
  summary: 'Name a file that is kept elsewhere',
  auth: 'token or key',
  body: ExternalBlob,
  creates: true,
  replies: { 201: Blob },
  async handle({ body, by, direct, once, origin }) {
    return reply(201, showBlob(await direct.run(createExternal, by, body, once), origin))
  },
})

const get = route({
  method: 'GET',
  path: '/api/blobs/{id}',
  summary: 'Get a blob: for whoever uploaded it, and whoever can read something that uses it',
  auth: 'token or key',
  params: IdPath,
  replies: { 200: Blob },
  problems: [NotFound],
  async handle(request) {
    return reply(200, showBlob(await findReadableBlob(request.params.id, request), request.origin))
  },
})

export const routes = [upload, external, get]
