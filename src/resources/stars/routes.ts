import { reply, route, type Parts, type RouteRequest } from '../../http/route.ts'
import { NotFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { toPagedList } from '../../api/page.ts'
import { toAppId } from '../apps/find.ts'
import { AppPath } from '../apps/schema.ts'
import { changeSettings } from '../apps/own/settings.ts'
import { listReadable } from '../apps/store.ts'
import { requireShown } from '../content/find.ts'
import { kinds } from '../content/kinds.ts'
import { ContentPath } from '../content/schema.ts'
import { requireShown as requireFile } from '../files/find.ts'
import { changeStar } from './commands.ts'
import { Star, StarListing, Stars, type StarRow } from './schema.ts'
import { listStars, selectStarredApps } from './pages.ts'

const list = route({
  method: 'GET',
  path: '/api/stars',
  summary: 'List what the caller starred, newest first',
  auth: 'token',
  query: StarListing,
  replies: { 200: Stars },
  async handle({ query, sql, by, people }) {
    const { skip = 0, take = 25, count_only: countOnly = false } = query
    const directories = await people.directoriesOf(by.user)
    const isStarred = sql`a.id in (${selectStarredApps(sql, by.user)})`
    const apps = await listReadable(sql, by.user, directories, isStarred)
    const reach = { user: by.user, apps }
    const { stars, count } = await listStars(sql, reach, { skip, take, countOnly })
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

type Request = Parts & Pick<RouteRequest<unknown, unknown, unknown>, 'by'>

/** What can be starred in apps, and how it is found: 404 for what the caller may not see. */
interface Starrable {
  type: StarRow['entity_type']
  find: (id: number, request: Request) => Promise<{ id: number; app_id: number }>
}

const starrables: Starrable[] = [
  ...Object.values(kinds).map(kind => ({
    type: kind.entity,
    find: async (id: number, request: Request) => (await requireShown(kind, id, request)).row,
  })),
  { type: 'file', find: async (id, request) => (await requireFile(String(id), request)).file },
]

const inApps = ({ type, find }: Starrable, method: 'POST' | 'DELETE') =>
  route({
    method,
    path: `/api/${type}s/{id}/stars`,
    summary: method === 'POST' ? `Star a ${type}` : `Take the star of a ${type} back`,
    auth: 'token',
    params: ContentPath,
    replies: { 200: Star },
    problems: [NotFound],
    async handle(request) {
      const { id, app_id } = await find(toId(request.params.id), request)
      await request.apps.run(changeStar, app_id, request.by, { type, id, isStarred: method === 'POST' })
      return reply(200, { id, type })
    },
  })

export const routes = [
  list,
  ofApps('POST'),
  ofApps('DELETE'),
  ...starrables.flatMap(one => [inApps(one, 'POST'), inApps(one, 'DELETE')]),
]
