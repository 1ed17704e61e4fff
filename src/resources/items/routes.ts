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
    async handle(
      { params, body, by, representation, idempotencyKey, origin },
      { sql, apps, userCache, renderer, now },
    ) {
      const caller = { by, representation, origin, sql, apps, userCache, renderer, now }
      // Nearly always everything is in memory, and an unneeded await costs 0.1 us (measured).
      const found = toAppId(params.app, caller)
      const app = found instanceof Promise ? await found : found
      const prepared = prepareContent(body, app, caller)
      const content = prepared instanceof Promise ? await prepared : prepared
      const item = await apps.run(commands.create, app, by, content, idempotencyKey)
      // Writes of other nodes only matter for the caller's access, which is checked below.
      const known = idempotencyKey === undefined ? apps.peek(app) : apps.current(app)
      const state = known ?? (await apps.state(app))
      const showing = showItem(kind, item, state, caller)
      const shown = showing instanceof Promise ? await showing : showing
      // A repeated request is answered with the first item, in the app's current state: its caller may have lost
      // access.
      if (idempotencyKey !== undefined) await openApp(state, 'read', caller)
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
    async handle({ params, query, by, representation, origin }, { sql, apps, userCache }) {
      const caller = { by, representation, origin, sql, apps, userCache }
      const { row, state, level } = await findReadable(kind, toId(params.id), caller)
      if (row.trashed_at !== null && !(query.trashed && maySeeTrashed(row, level, by))) throw NotFound()
      return reply(200, await showItem(kind, row, state, caller))
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
    async handle({ params, body, by, representation, origin }, { sql, apps, userCache, renderer, now }) {
      const caller = { by, representation, origin, sql, apps, userCache, renderer, now }
      const { row } = await findReadable(kind, toId(params.id), caller)
      const item = await apps.run(commands.update, row.app_id, by, await prepareChange(row, body, caller))
      return reply(200, await showItem(kind, item, await apps.state(row.app_id), caller))
    },
  })

  const change = (endpoint: `${'POST' | 'DELETE'} ${string}`, summary: string, verb: 'trash' | 'restore' | 'remove') =>
    route(endpoint, {
      summary,
      auth: 'token or key',
      params: IdPath,
      replies: { 204: null },
      problems: [Forbidden, NotFound],
      async handle({ params, by }, { sql, apps, userCache }) {
        const { row } = await findReadable(kind, toId(params.id), { by, sql, apps, userCache })
        await apps.run(commands[verb], row.app_id, by, { id: row.id })
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
