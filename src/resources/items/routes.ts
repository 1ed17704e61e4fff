import type { z } from 'zod'
import { reply } from '../../http/route.ts'
import { route, type Route } from '../route.ts'
import { Forbidden, NotFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { IdPath } from '../../api/shape.ts'
import { openApp, toAppId } from '../apps/find.ts'
import { AppPath, WrongKind } from '../apps/schema.ts'
import type { ContentCommands } from './writing/commands.ts'
import { findReadable, maySeeTrashed } from '../content/find.ts'
import type { ContentKind } from '../content/kind.ts'
import { prepareChange, prepareContent } from './writing/prepare.ts'
import { ContentQuery } from '../content/schema.ts'
import { ContentUpdate, IsEmpty, NewContent } from './schema.ts'
import { showItem } from './show.ts'

/** The routes of one item, for messages, posts and comments alike. */
export function itemRoutes(kind: ContentKind, commands: ContentCommands, Item: z.ZodType): Route[] {
  const { entity } = kind
  const plural = `${entity}s`

  const create = route(`POST /api/apps/{app}/${plural}`, {
    summary: `Create a ${entity} in an app`,
    description:
      '`text` is Markdown, in which `[Name](@uid)` mentions a user. It needs a text or something attached: `blobs`, ' +
      '`options` of a poll, an embed or a meeting. With an `Idempotency-Key` it may be sent again without being ' +
      'written twice.',
    auth: 'token or key',
    params: AppPath,
    body: NewContent,
    creates: true,
    replies: { 201: Item },
    problems: [WrongKind, Forbidden, NotFound, IsEmpty],
    async handle({ params, body, by, idempotencyKey }, context) {
      // Nearly always everything is in memory, and an unneeded await costs 0.1 us (measured).
      const found = toAppId(params.app, context)
      const app = found instanceof Promise ? await found : found
      const prepared = prepareContent(body, app, context)
      const content = prepared instanceof Promise ? await prepared : prepared
      const item = await context.apps.run(commands.create, app, by, content, idempotencyKey)
      // Writes of other nodes only matter for the caller's access, which is checked below.
      const known = idempotencyKey === undefined ? context.apps.peek(app) : context.apps.current(app)
      const state = known ?? (await context.apps.state(app))
      const showing = showItem(kind, item, state, context)
      const shown = showing instanceof Promise ? await showing : showing
      // A repeated request is answered with the first item, in the app's current state: its caller may have lost
      // access.
      if (idempotencyKey !== undefined) await openApp(state, 'read', context)
      return reply(201, shown)
    },
  })

  const get = route(`GET /api/${plural}/{id}`, {
    summary: `Get a ${entity}`,
    auth: 'token or key',
    params: IdPath,
    query: ContentQuery,
    replies: { 200: Item },
    problems: [NotFound],
    async handle({ params, query, by }, context) {
      const { row, state, level } = await findReadable(kind, toId(params.id), context)
      if (row.trashed_at !== null && !(query.trashed && maySeeTrashed(row, level, by))) throw NotFound()
      return reply(200, await showItem(kind, row, state, context))
    },
  })

  const update = route(`PATCH /api/${plural}/{id}`, {
    summary: `Edit a ${entity}`,
    description: 'Members that are left out stay as they are; null clears. Only its author may edit it, or an API key.',
    auth: 'token or key',
    params: IdPath,
    body: ContentUpdate,
    replies: { 200: Item },
    problems: [Forbidden, NotFound, IsEmpty],
    async handle({ params, body, by }, context) {
      const { row } = await findReadable(kind, toId(params.id), context)
      const item = await context.apps.run(commands.update, row.app_id, by, await prepareChange(row, body, context))
      return reply(200, await showItem(kind, item, await context.apps.state(row.app_id), context))
    },
  })

  const change = (endpoint: `${'POST' | 'DELETE'} ${string}`, summary: string, verb: 'trash' | 'restore' | 'remove') =>
    route(endpoint, {
      summary,
      auth: 'token or key',
      params: IdPath,
      replies: { 204: null },
      problems: [Forbidden, NotFound],
      async handle({ params, by }, context) {
        const { row } = await findReadable(kind, toId(params.id), context)
        await context.apps.run(commands[verb], row.app_id, by, { id: row.id })
        return reply(204)
      },
    })

  return [
    create,
    get,
    update,
    change(`DELETE /api/${plural}/{id}`, `Delete a ${entity} for good`, 'remove'),
    change(`POST /api/${plural}/{id}/trash`, `Move a ${entity} to the trash`, 'trash'),
    change(`POST /api/${plural}/{id}/restore`, `Take a ${entity} out of the trash`, 'restore'),
  ]
}
