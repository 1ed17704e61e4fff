import { z } from 'zod'
import { route } from '../../route.ts'
import { NotFound, requireFound } from '../../../lib/errors.ts'
import { Id, LinkQuery } from './schema.ts'
import { isSigned } from './links.ts'
import { ContentMissing } from '../schema.ts'
import { serveRendition } from './serve.ts'
import { findAppSecret, findBlob, findUserSecret, isInTrash } from '../store.ts'

const thumbnail = route('GET /content/blobs/{id}/thumbnail', {
  summary: 'The thumbnail of a picture, by a signed link',
  auth: 'none',
  isDownload: true,
  params: z.object({ id: Id }),
  query: LinkQuery,
  replies: { 200: null },
  problems: [NotFound, ContentMissing],
  async handle({ params, query }, context) {
    const blob = await findBlob(context.sql, params.id)
    const isValid =
      blob !== null && isSigned(`/blobs/${params.id}/thumbnail`, query, blob.secret, context.now().getTime())
    if (!isValid || (await isInTrash(context.sql, params.id))) throw NotFound()
    return serveRendition(blob, 'thumbnail', context)
  },
})

const picture = (noun: 'users' | 'apps', path: string, findSecret: typeof findUserSecret) =>
  route(`GET /content${path}`, {
    summary: `The picture of one of the ${noun}, by a signed link`,
    auth: 'none',
    isDownload: true,
    params: z.object({ id: Id, picture: Id }),
    query: LinkQuery,
    replies: { 200: null },
    problems: [NotFound, ContentMissing],
    async handle({ params, query }, context) {
      const signed = path.replace('{id}', String(params.id)).replace('{picture}', String(params.picture))
      const secret = await findSecret(context.sql, params.id)
      if (secret === null || !isSigned(signed, query, secret, context.now().getTime())) throw NotFound()
      const blob = requireFound(await findBlob(context.sql, params.picture))
      return serveRendition(blob, 'avatar', context)
    },
  })

export const contentRoutes = [
  thumbnail,
  picture('users', '/users/{id}/{picture}', findUserSecret),
  picture('apps', '/apps/{id}/pictures/{picture}', findAppSecret),
]
