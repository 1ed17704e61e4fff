import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { toPage, toPagedList } from '../../api/page.ts'
import { toAppId } from '../apps/find.ts'
import { AppPath } from '../apps/schema.ts'
import { changeSettings } from '../apps/own/settings.ts'
import { listReadable } from '../apps/members/readable.ts'
import { requireShown } from '../content/find.ts'
import { kinds } from '../content/kinds.ts'
import { loadItemTarget } from './commands.ts'
import { Star, StarListing, Stars } from './schema.ts'
import { starring } from './starring.ts'
import { listStars, selectStarredApps } from './pages.ts'

const list = route('GET /api/stars', {
  summary: 'List what the caller starred, newest first',
  auth: 'token',
  query: StarListing,
  replies: { 200: Stars },
  async handle({ query, by }, { sql, userCache }) {
    const page = toPage(query, ['id'], 'id')
    const directories = await userCache.directoriesOf(by.user)
    const isStarred = sql`a.id in (${selectStarredApps(sql, by.user)})`
    const apps = await listReadable(sql, by.user, directories, isStarred)
    const { stars, count } = await listStars(sql, { user: by.user, apps }, page)
    return reply(200, toPagedList(page, count, stars))
  },
})

const ofApps = (method: 'POST' | 'DELETE') =>
  route(`${method} /api/apps/{app}/stars`, {
    summary: method === 'POST' ? 'Star an app' : 'Take the star of an app back',
    auth: 'token',
    params: AppPath,
    replies: { 200: Star },
    problems: [NotFound],
    async handle({ params, by }, context) {
      const app = await toAppId(params.app, context)
      await context.apps.run(changeSettings, app, by, { isStarred: method === 'POST' })
      return reply(200, { id: app, type: 'app' })
    },
  })

export const routes = [
  list,
  ofApps('POST'),
  ofApps('DELETE'),
  ...Object.values(kinds).flatMap(kind =>
    starring({
      type: kind.entity,
      find: async (id, request) => (await requireShown(kind, id, request)).row,
      load: loadItemTarget(kind),
    }),
  ),
]
