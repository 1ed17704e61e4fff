import type { Command } from '../../../engine/command.ts'
import { reply, type Method } from '../../../http/route.ts'
import { route } from '../../route.ts'
import { NotFound } from '../../../lib/errors.ts'
import { toId } from '../../../api/reference.ts'
import { openApp, toAppId } from '../find.ts'
import { markRead, markUnread } from './mark.ts'
import { App, AppPath, MarkQuery, WrongKind } from '../schema.ts'
import { changeSettings, removeForMe } from './settings.ts'
import { showWhole, type AppMessages } from '../show.ts'

/** A route that does nothing but run a command on what is the caller's own of an app. */
const change = <Input>(
  endpoint: `${Method} /api/apps/{app}/${string}`,
  summary: string,
  command: Command<Input, void>,
  input: Input,
) =>
  route(endpoint, {
    summary,
    auth: 'token',
    params: AppPath,
    replies: { 204: null },
    problems: [NotFound],
    async handle({ params, by }, context) {
      await context.apps.run(command, await toAppId(params.app, context), by, input)
      return reply(204)
    },
  })

const subscription = (verb: 'subscribe' | 'unsubscribe', messages: AppMessages) =>
  route(`POST /api/apps/{app}/${verb}`, {
    summary: verb === 'subscribe' ? 'Subscribe to an app' : 'Unsubscribe from an app',
    auth: 'token',
    params: AppPath,
    replies: { 200: App },
    problems: [NotFound],
    async handle({ params, by }, context) {
      const app = await toAppId(params.app, context)
      await context.apps.run(changeSettings, app, by, { isSubscribed: verb === 'subscribe' })
      return reply(200, await showWhole(await context.apps.state(app), messages, context))
    },
  })

const mark = (messages: AppMessages) =>
  route('PUT /api/apps/{app}/mark', {
    summary: 'Mark an app as read, up to a message or to its last one',
    description:
      'Without `message_id`, everything is read. A marker never moves backwards. Members see how far the others are.',
    auth: 'token',
    params: AppPath,
    query: MarkQuery,
    replies: { 204: null },
    problems: [NotFound],
    async handle({ params, query, by }, context) {
      const { state } = await openApp(params.app, 'read', context)
      const id = query.message_id === undefined ? null : toId(query.message_id)
      const isThere = id === null || state.recent.find(id) || (await messages.isIn(context.sql, state.app.id, id))
      if (!isThere) throw NotFound()
      await context.apps.run(markRead, state.app.id, by, id)
      return reply(204)
    },
  })

const typing = route('PUT /api/apps/{app}/typing', {
  summary: 'Tell the others that the caller is typing',
  description:
    'Send it every few seconds while the user types; it ends by itself. Others hear of it over realtime, and ' +
    'nothing is stored.',
  auth: 'token',
  params: AppPath,
  replies: { 204: null },
  problems: [NotFound],
  async handle({ params, by }, context) {
    const { state } = await openApp(params.app, 'read', context)
    context.typing.start(state.app.id, by.user)
    return reply(204)
  },
})

const remove = route('POST /api/apps/{app}/remove', {
  summary: "Remove the caller's copy of a private or agent chat",
  description: 'The chat disappears from the own lists until the next message in it. The other one keeps theirs.',
  auth: 'token',
  params: AppPath,
  replies: { 204: null },
  problems: [WrongKind, NotFound],
  async handle({ params, by }, context) {
    const { state } = await openApp(params.app, 'read', context)
    await context.userCache.load(Array.from(state.members(), member => member.user_id))
    await context.apps.run(removeForMe, state.app.id, by, undefined)
    return reply(204)
  },
})

export const ownRoutes = (messages: AppMessages) => [
  remove,
  typing,
  mark(messages),
  change('DELETE /api/apps/{app}/mark', 'Mark an app as unread', markUnread, undefined),
  change('PUT /api/apps/{app}/archive', 'Archive an app', changeSettings, { isArchived: true }),
  change('DELETE /api/apps/{app}/archive', 'Take an app out of the archive', changeSettings, { isArchived: false }),
  change('PUT /api/apps/{app}/pin', 'Pin an app', changeSettings, { isPinned: true }),
  change('DELETE /api/apps/{app}/pin', 'Unpin an app', changeSettings, { isPinned: false }),
  subscription('subscribe', messages),
  subscription('unsubscribe', messages),
]
