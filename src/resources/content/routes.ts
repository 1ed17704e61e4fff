import type { z } from 'zod'
import { reply, route, type Route } from '../../http/route.ts'
import { Forbidden, NotFound } from '../../lib/errors.ts'
import { pagedList } from '../../lib/shape.ts'
import { findApp, toAppId } from '../apps/find.ts'
import { AppPath, WrongKind } from '../apps/schema.ts'
import { requireRead } from '../members/access.ts'
import type { ContentCommands } from './commands.ts'
import { findReadable, mayRestore } from './find.ts'
import type { ContentKind } from './kind.ts'
import { listEverywhere, listInApp } from './list.ts'
import { prepareText } from './mentions.ts'
import { ContentListing, ContentPath, ContentQuery, ContentUpdate, IsEmpty, NewContent } from './schema.ts'
import { showItem, showPage } from './show.ts'

interface ContentSchemas {
  /** The detailed item. */
  Item: z.ZodType
  Summary: z.ZodType
}

/** The endpoints that messages, posts and comments have alike. */
export function contentRoutes(
  kind: ContentKind,
  commands: ContentCommands,
  { Item, Summary }: ContentSchemas,
): Route[] {
  const { entity } = kind
  const plural = `${entity}s`
  const Items = pagedList(Item.or(Summary))

  const create = route({
    method: 'POST',
    path: `/api/apps/{app}/${plural}`,
    summary: `Create a ${entity} in an app`,
    auth: 'token or key',
    params: AppPath,
    body: NewContent,
    creates: true,
    replies: { 201: Item },
    problems: [WrongKind, Forbidden, NotFound, IsEmpty],
    async handle(request) {
      const { params, body, by, apps, sql, people, once } = request
      const app = await toAppId(params.app, request)
      const text = await prepareText(body.text, sql, people)
      const content = { text, metadata: body.metadata ?? null, tags: body.tags ?? [] }
      const item = await apps.run(commands.create, app, by, content, once)
      return reply(201, await showItem(item, await apps.state(app), request))
    },
  })

  const get = route({
    method: 'GET',
    path: `/api/${plural}/{id}`,
    summary: `Get a ${entity}`,
    auth: 'token or key',
    params: ContentPath,
    query: ContentQuery,
    replies: { 200: Item },
    problems: [NotFound],
    async handle(request) {
      const { row, state } = await findReadable(kind, request.params.id, request)
      if (row.trashed_at !== null && !(request.query.trashed && mayRestore(row, state, request))) throw NotFound()
      return reply(200, await showItem(row, state, request))
    },
  })

  const update = route({
    method: 'PATCH',
    path: `/api/${plural}/{id}`,
    summary: `Edit a ${entity}`,
    auth: 'token or key',
    params: ContentPath,
    body: ContentUpdate,
    replies: { 200: Item },
    problems: [Forbidden, NotFound, IsEmpty],
    async handle(request) {
      const { params, body, by, apps, sql, people } = request
      const { row } = await findReadable(kind, params.id, request)
      const { text, metadata, tags } = body
      const change = {
        id: row.id,
        ...(text === undefined ? {} : { text: await prepareText(text, sql, people) }),
        ...(metadata === undefined ? {} : { metadata }),
        ...(tags === undefined ? {} : { tags: tags ?? [] }),
      }
      const item = await apps.run(commands.update, row.app_id, by, change)
      return reply(200, await showItem(item, await apps.state(row.app_id), request))
    },
  })

  const list = route({
    method: 'GET',
    path: `/api/${plural}`,
    summary: `List the ${plural} of all apps that the caller may read`,
    auth: 'token or key',
    query: ContentListing,
    replies: { 200: Items },
    problems: [NotFound],
    async handle(request) {
      await request.people.load([request.by.user])
      return reply(200, await showPage(await listEverywhere(kind, request.query, request), request))
    },
  })

  const listOfApp = route({
    method: 'GET',
    path: `/api/apps/{app}/${plural}`,
    summary: `List the ${plural} of an app`,
    auth: 'token or key',
    params: AppPath,
    query: ContentListing,
    replies: { 200: Items },
    problems: [NotFound],
    async handle(request) {
      const { params, by, people } = request
      const state = await findApp(params.app, request)
      await people.load([by.user])
      requireRead(state, by, people)
      return reply(200, await showPage(await listInApp(kind, state, request.query, request), request))
    },
  })

  const change = (verb: 'trash' | 'restore') =>
    route({
      method: 'POST',
      path: `/api/${plural}/{id}/${verb}`,
      summary: verb === 'trash' ? `Move a ${entity} to the trash` : `Take a ${entity} out of the trash`,
      auth: 'token or key',
      params: ContentPath,
      replies: { 204: null },
      problems: [Forbidden, NotFound],
      async handle(request) {
        const { row } = await findReadable(kind, request.params.id, request)
        await request.apps.run(commands[verb], row.app_id, request.by, { id: row.id })
        return reply(204)
      },
    })

  const remove = route({
    method: 'DELETE',
    path: `/api/${plural}/{id}`,
    summary: `Delete a ${entity} for good`,
    auth: 'token or key',
    params: ContentPath,
    replies: { 204: null },
    problems: [Forbidden, NotFound],
    async handle(request) {
      const { row } = await findReadable(kind, request.params.id, request)
      await request.apps.run(commands.remove, row.app_id, request.by, { id: row.id })
      return reply(204)
    },
  })

  return [list, create, get, update, remove, change('trash'), change('restore'), listOfApp]
}
