import { reply, route, type Route } from '../../http/route.ts'
import { NotFound } from '../../lib/errors.ts'
import { toPagedList } from '../../storage/page.ts'
import { toAppId } from '../apps/find.ts'
import { AppPath } from '../apps/schema.ts'
import { changeSettings } from '../apps/settings.ts'
import { listReadable } from '../apps/store.ts'
import { requireShown, toId } from '../content/find.ts'
import type { ContentKind } from '../content/kind.ts'
import { kinds } from '../content/kinds.ts'
import { ContentPath } from '../content/schema.ts'
import { changeStar } from './commands.ts'
import { Star, StarListing, Stars } from './schema.ts'
import { listStars } from './store.ts'

const list = route({
  method: 'GET',
  path: '/api/stars',
  summary: 'List what the caller starred, newest first',
  auth: 'token',
  query: StarListing,
  replies: { 200: Stars },
  async handle({ query, sql, by, people }) {
    const { skip = 0, take = 25, count_only: countOnly = false } = query
    await people.load([by.user])
    const directories = people.show(by.user).directories.map(({ id }) => id)
    const sight = { user: by.user, apps: await listReadable(sql, by.user, directories) }
    const { stars, count } = await listStars(sql, sight, { skip, take, countOnly })
    return reply(200, toPagedList({ skip, countOnly }, count, stars))
  },
})

const ofApps = (method: 'POST' | 'DELETE') =>
  route({
    method,
    path: '/api/apps/{app}/stars',
    summary: method === 'POST' ? 'Star an app' : 'Take the star of an app back',
    auth: 'token',
    params: AppPath,
    replies: { 200: Star },
    problems: [NotFound],
    async handle(request) {
      const app = await toAppId(request.params.app, request)
      await request.apps.run(changeSettings, app, request.by, { isStarred: method === 'POST' })
      return reply(200, { id: app, type: 'app' })
    },
  })

const ofContent = (kind: ContentKind, method: 'POST' | 'DELETE'): Route => {
  const { entity } = kind
  return route({
    method,
    path: `/api/${entity}s/{id}/stars`,
    summary: method === 'POST' ? `Star a ${entity}` : `Take the star of a ${entity} back`,
    auth: 'token',
    params: ContentPath,
    replies: { 200: Star },
    problems: [NotFound],
    async handle(request) {
      const { row } = await requireShown(kind, toId(request.params.id), request)
      const change = { type: entity, id: row.id, isStarred: method === 'POST' }
      await request.apps.run(changeStar, row.app_id, request.by, change)
      return reply(200, { id: row.id, type: entity })
    },
  })
}

export const routes = [
  list,
  ofApps('POST'),
  ofApps('DELETE'),
  ...Object.values(kinds).flatMap(kind => [ofContent(kind, 'POST'), ofContent(kind, 'DELETE')]),
]
