import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { NotFound } from '../../lib/errors.ts'
import { openApp } from '../apps/find.ts'
import { AppPath } from '../apps/schema.ts'
import { DirectoryPath } from '../directories/schema.ts'
import { findDirectory } from '../directories/store.ts'
import { markNotifications } from './commands.ts'
import { listPage } from './lists/list.ts'
import { AppNotificationListing, MarkQuery, Notifications } from './schema.ts'

const listOfApp = route('GET /api/apps/{app}/notifications', {
  summary: 'List the notifications of the caller that an app gave rise to',
  auth: 'token',
  params: AppPath,
  query: AppNotificationListing,
  replies: { 200: Notifications },
  problems: [NotFound],
  async handle({ params, query, by, origin }, { sql, apps, userCache }) {
    const caller = { by, origin, sql, apps, userCache }
    const { state } = await openApp(params.app, 'read', caller)
    return reply(200, await listPage(query, state.app.id, caller))
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
  async handle({ params, query, by }, { sql, apps, globalCommands, userCache }) {
    const { state } = await openApp(params.app, 'read', { by, sql, apps, userCache })
    await globalCommands.run(markNotifications, by, { upTo: query.id, app: state.app.id })
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
    const directory = await findDirectory(sql, params.dir, by)
    if (directory === null) throw NotFound()
    await globalCommands.run(markNotifications, by, { upTo: query.id, directory: directory.id })
    return reply(204)
  },
})

export const markingRoutes = [listOfApp, markAll, markOfApp, markOfDirectory]
