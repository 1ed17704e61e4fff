import { z } from 'zod'
import { route } from '../../http/route.ts'
import { NotFound } from '../../lib/errors.ts'
import { Id, LinkQuery } from './content-schema.ts'
import { isSigned } from './links.ts'
import { serveRendition } from './serve.ts'
import { findBlob } from './store.ts'

const thumbnail = route({
  method: 'GET',
  path: '/content/blobs/{id}/thumbnail',
  summary: 'The thumbnail of a picture, by a signed link',
  auth: 'none',
  isDownload: true,
  params: z.object({ id: Id }),
  query: LinkQuery,
  replies: { 200: null },
  problems: [NotFound],
  async handle({ params, query, sql, now, bytes, renditions }) {
    const blob = await findBlob(sql, params.id)
    const isValid = blob !== null && isSigned(`/blobs/${params.id}/thumbnail`, query, blob.secret, now().getTime())
    return isValid ? serveRendition(blob, 'thumbnail', { bytes, renditions }) : refuse()
  },
})

/** What a link does not open is not there. */
export function refuse(): never {
  throw NotFound()
}

export const contentRoutes = [thumbnail]
