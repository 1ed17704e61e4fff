import { reply } from '../../http/route.ts'
import { route, type Served } from '../route.ts'
import { NotFound, requireFound } from '../../lib/errors.ts'
import { toId } from '../../api/reference.ts'
import { openApp } from '../apps/find.ts'
import { AppPath } from '../apps/schema.ts'
import { DirectoryPath } from '../directories/schema.ts'
import { findDirectory } from '../directories/store.ts'
import { createNotification, markNotification, markNotifications, removeNotification } from './commands.ts'
import { listPage } from './lists/list.ts'
import { toDraft } from './prepare.ts'
import { namesOf, showNotification } from './represent.ts'
import {
  AppNotificationListing,
  MarkQuery,
  NewNotification,
  Notification,
  NotificationListing,
  NotificationPath,
  Notifications,
  NotifiesPeople,
  type NotificationRow,
} from './schema.ts'
import { findNotification } from './store.ts'

const list = route('GET /api/notifications', {
  summary: 'List the notifications of the caller, or with an API key of all users',
  auth: 'token or key',
  query: NotificationListing,
  replies: { 200: Notifications },
  async handle({ query }, context) {
    return reply(200, await listPage(query, undefined, context))
  },
})

const get = route('GET /api/notifications/{id}', {
  summary: 'Get a notification',
  auth: 'token or key',
  params: NotificationPath,
  replies: { 200: Notification },
  problems: [NotFound],
  async handle({ params, by }, context) {
    const row = requireFound(await findNotification(context.sql, toId(params.id), by.kind === 'key' ? null : by.user))
    return reply(200, await show(row, context))
  },
})

const mark = (method: 'PUT' | 'DELETE') =>
  route(`${method} /api/notifications/{id}/mark`, {
    summary: method === 'PUT' ? 'Mark a notification as read' : 'Mark a notification as unread',
    auth: 'token',
    params: NotificationPath,
    replies: { 200: Notification },
    problems: [NotFound],
    async handle({ params, by }, context) {
      const change = { id: toId(params.id), isUnread: method === 'DELETE' }
      return reply(200, await show(await context.globalCommands.run(markNotification, by, change), context))
    },
  })

const create = route('POST /api/notifications', {
  summary: 'Notify a user',
  description:
    'For what happens in your product: the user gets it beside mentions and unread messages, and over realtime.',
  auth: 'key',
  body: NewNotification,
  creates: true,
  replies: { 201: Notification },
  problems: [NotifiesPeople],
  async handle({ body, by, idempotencyKey }, context) {
    return reply(
      201,
      await show(
        await context.globalCommands.run(createNotification, by, await toDraft(body, context), idempotencyKey),
        context,
      ),
    )
  },
})

const remove = route('DELETE /api/notifications/{id}', {
  summary: 'Delete a notification',
  auth: 'token or key',
  params: NotificationPath,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, by }, { globalCommands }) {
    await globalCommands.run(removeNotification, by, toId(params.id))
    return reply(204)
  },
})

const listOfApp = route('GET /api/apps/{app}/notifications', {
  summary: 'List the notifications of the caller that an app gave rise to',
  auth: 'token',
  params: AppPath,
  query: AppNotificationListing,
  replies: { 200: Notifications },
  problems: [NotFound],
  async handle({ params, query }, context) {
    const { state } = await openApp(params.app, 'read', context)
    return reply(200, await listPage(query, state.app.id, context))
  },
})

const markAll = route('PUT /api/notifications/mark', {
  summary: 'Mark the notifications of the caller as read, up to one or all',
  auth: 'token',
  query: MarkQuery,
  replies: { 204: null },
  async handle({ query, by }, { globalCommands }) {
    await globalCommands.run(markNotifications, by, { upTo: query.id })
    return reply(204)
  },
})

const markOfApp = route('PUT /api/apps/{app}/notifications/mark', {
  summary: 'Mark the notifications of an app as read, up to one or all',
  auth: 'token',
  params: AppPath,
  query: MarkQuery,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, query, by }, context) {
    const { state } = await openApp(params.app, 'read', context)
    await context.globalCommands.run(markNotifications, by, { upTo: query.id, app: state.app.id })
    return reply(204)
  },
})

const markOfDirectory = route('PUT /api/directories/{dir}/notifications/mark', {
  summary: 'Mark the notifications of the apps of a directory as read, up to one or all',
  auth: 'token',
  params: DirectoryPath,
  query: MarkQuery,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, query, by }, { sql, globalCommands }) {
    const directory = requireFound(await findDirectory(sql, params.dir, by))
    await globalCommands.run(markNotifications, by, { upTo: query.id, directory: directory.id })
    return reply(204)
  },
})

type Request = Served<'userCache' | 'origin'>

async function show(row: NotificationRow, { userCache, origin }: Request) {
  await userCache.load(namesOf(row))
  return showNotification(row, { userCache, origin })
}

export const routes = [
  list,
  create,
  get,
  mark('PUT'),
  mark('DELETE'),
  remove,
  listOfApp,
  markAll,
  markOfApp,
  markOfDirectory,
]
