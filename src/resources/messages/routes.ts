import type { People } from '../../actors/people.ts'
import type { AppState } from '../../actors/state.ts'
import { NotFound } from '../../lib/errors.ts'
import { reply, route, type Parts, type RouteRequest } from '../../http/route.ts'
import { toPagedList } from '../../storage/page.ts'
import { findApp, toAppId } from '../apps/find.ts'
import { namesakes } from '../apps/naming.ts'
import type { Viewer } from '../apps/represent.ts'
import { isSubscribed } from '../apps/represent.ts'
import { AppPath, WrongKind } from '../apps/schema.ts'
import { Forbidden } from '../../lib/errors.ts'
import { showContent, showContentSummary } from '../content/represent.ts'
import { prepareText } from '../content/mentions.ts'
import { ContentUpdate, IsEmpty, NewContent, type ContentRow } from '../content/schema.ts'
import { levelOf, requireRead } from '../members/access.ts'
import { createMessage, deleteMessage, restoreMessage, trashMessage, updateMessage } from './commands.ts'
import { listEverywhere, listInApp, type MessagePage } from './list.ts'
import { Message, MessageListing, MessagePath, MessageQuery, Messages } from './schema.ts'
import { findMessage } from './store.ts'

const create = route({
  method: 'POST',
  path: '/api/apps/{app}/messages',
  summary: 'Send a message to an app',
  auth: 'token or key',
  params: AppPath,
  body: NewContent,
  creates: true,
  replies: { 201: Message },
  problems: [WrongKind, Forbidden, NotFound, IsEmpty],
  async handle(request) {
    const { params, body, by, apps, sql, people, once } = request
    const app = await toAppId(params.app, request)
    const text = await prepareText(body.text, sql, people)
    const content = { text, metadata: body.metadata ?? null, tags: body.tags ?? [] }
    const message = await apps.run(createMessage, app, by, content, once)
    return reply(201, await show(message, await apps.state(app), request))
  },
})

const get = route({
  method: 'GET',
  path: '/api/messages/{id}',
  summary: 'Get a message',
  auth: 'token or key',
  params: MessagePath,
  query: MessageQuery,
  replies: { 200: Message },
  problems: [NotFound],
  async handle(request) {
    const { row, state } = await findReadable(request.params.id, request)
    if (row.trashed_at !== null && !(request.query.trashed && mayRestore(row, state, request))) throw NotFound()
    return reply(200, await show(row, state, request))
  },
})

const update = route({
  method: 'PATCH',
  path: '/api/messages/{id}',
  summary: 'Edit a message',
  auth: 'token or key',
  params: MessagePath,
  body: ContentUpdate,
  replies: { 200: Message },
  problems: [Forbidden, NotFound, IsEmpty],
  async handle(request) {
    const { params, body, by, apps, sql, people } = request
    const { row } = await findReadable(params.id, request)
    const { text, metadata, tags } = body
    const change = {
      id: row.id,
      ...(text === undefined ? {} : { text: await prepareText(text, sql, people) }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(tags === undefined ? {} : { tags: tags ?? [] }),
    }
    const message = await apps.run(updateMessage, row.app_id, by, change)
    return reply(200, await show(message, await apps.state(row.app_id), request))
  },
})

const list = route({
  method: 'GET',
  path: '/api/messages',
  summary: 'List messages of all apps that the caller may read',
  auth: 'token or key',
  query: MessageListing,
  replies: { 200: Messages },
  problems: [NotFound],
  async handle(request) {
    await request.people.load([request.by.user])
    return reply(200, await showPage(await listEverywhere(request.query, request), request))
  },
})

const listOfApp = route({
  method: 'GET',
  path: '/api/apps/{app}/messages',
  summary: 'List the messages of an app',
  auth: 'token or key',
  params: AppPath,
  query: MessageListing,
  replies: { 200: Messages },
  problems: [NotFound],
  async handle(request) {
    const { params, by, people } = request
    const state = await findApp(params.app, request)
    await people.load([by.user])
    requireRead(state, by, people)
    return reply(200, await showPage(await listInApp(state, request.query, request), request))
  },
})

const change = (verb: 'trash' | 'restore', command: typeof trashMessage) =>
  route({
    method: 'POST',
    path: `/api/messages/{id}/${verb}`,
    summary: verb === 'trash' ? 'Move a message to the trash' : 'Take a message out of the trash',
    auth: 'token or key',
    params: MessagePath,
    replies: { 204: null },
    problems: [Forbidden, NotFound],
    async handle(request) {
      const { row } = await findReadable(request.params.id, request)
      await request.apps.run(command, row.app_id, request.by, { id: row.id })
      return reply(204)
    },
  })

const remove = route({
  method: 'DELETE',
  path: '/api/messages/{id}',
  summary: 'Delete a message for good',
  auth: 'token or key',
  params: MessagePath,
  replies: { 204: null },
  problems: [Forbidden, NotFound],
  async handle(request) {
    const { row } = await findReadable(request.params.id, request)
    await request.apps.run(deleteMessage, row.app_id, request.by, { id: row.id })
    return reply(204)
  },
})

type Request = Parts & Viewer & Pick<RouteRequest<unknown, { out?: 'summary' | 'details' }, unknown>, 'form'>

/** The message behind `{id}`, in an app that the caller may read; 404 otherwise. */
async function findReadable(id: string, { sql, by, apps, people }: Request): Promise<{ row: ContentRow; state: AppState }> {
  const row = /^\d{1,15}$/.test(id) ? await findMessage(sql, Number(id)) : null
  if (row === null) throw NotFound()
  const state = await apps.state(row.app_id)
  await people.load([by.user])
  requireRead(state, by, people)
  const hidden = by.kind === 'user' ? (state.member(by.user)?.hidden_id ?? 0) : 0
  if (row.id <= hidden) throw NotFound()
  return { row, state }
}

function mayRestore(row: ContentRow, state: AppState, { by, people }: Viewer): boolean {
  return levelOf(state, by, people) === 'admin' || (by.kind === 'user' && row.created_by === by.user)
}

async function show(row: ContentRow, state: AppState, request: Request) {
  await loadNamed(request.people, [row], state)
  return showContent(row, state, request)
}

async function showPage({ rows, count, page }: MessagePage, request: Request) {
  const { apps, by, form } = request
  const items: object[] = []
  for (const row of rows) {
    const state = await apps.state(row.app_id)
    if (form.items === 'details') items.push(await show(row, state, request))
    else items.push(showContentSummary(row, by.kind === 'user' && isSubscribed(state, by.user)))
  }
  return toPagedList(page, count, items)
}

async function loadNamed(people: People, rows: ContentRow[], state: AppState): Promise<void> {
  await people.load([...rows.flatMap(row => [row.created_by, row.updated_by ?? 0]), ...namesakes(state)])
}

export const routes = [list, create, get, update, remove, change('trash', trashMessage), change('restore', restoreMessage), listOfApp]
