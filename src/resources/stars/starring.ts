import { reply } from '../../http/route.ts'
import { route, type Route, type Served } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { IdPath } from '../../api/shape.ts'
import { starCommand, type LoadTarget } from './commands.ts'
import { Star, type StarRow } from './schema.ts'

type Request = Served<'sql' | 'apps' | 'userCache' | 'by'>

/** A type of item that can be starred, and how it is found: 404 where the caller may not see it. */
interface Starrable {
  type: StarRow['entity_type']
  find: (id: number, request: Request) => Promise<{ id: number; app_id: number }>
  load: LoadTarget
}

/** The routes for starring one type of item. */
export function starring({ type, find, load }: Starrable): Route[] {
  const changeStar = starCommand(type, load)
  const change = (method: 'POST' | 'DELETE') =>
    route(`${method} /api/${type}s/{id}/stars`, {
      summary: method === 'POST' ? `Star a ${type}` : `Take the star of a ${type} back`,
      auth: 'token',
      params: IdPath,
      replies: { 200: Star },
      problems: [NotFound],
      async handle({ params, by }, context) {
        const { id, app_id } = await find(toId(params.id), context)
        await context.apps.run(changeStar, app_id, by, { id, isStarred: method === 'POST' })
        return reply(200, { id, type })
      },
    })
  return [change('POST'), change('DELETE')]
}
