import type { Command } from '../../engine/command.ts'
import { Forbidden, NotFound, type ProblemType } from '../../lib/errors.ts'
import { reply, type Method } from '../../http/route.ts'
import { route } from '../route.ts'
import { pictureBodyLimitBytes } from '../blobs/pictures/schema.ts'
import { deleteApp, restoreApp, trashApp, updateApp } from './commands.ts'
import { openApp, toAppId } from './find.ts'
import { listPage } from './lists/list.ts'
import { makeApp, upsertByUid } from './making/make.ts'
import { requireFreeUid, toChange, toDraft } from './making/prepare.ts'
import {
  App,
  AppList,
  AppListing,
  AppPath,
  AppQuery,
  AppUpdate,
  AppUpsert,
  NewApp,
  PairHasChat,
  UidPath,
} from './schema.ts'
import { showWhole, type AppMessages } from './show.ts'

const create = (messages: AppMessages) =>
  route('POST /api/apps', {
    summary: 'Create an app',
    auth: 'token or key',
    body: NewApp,
    bodyLimitBytes: pictureBodyLimitBytes,
    creates: true,
    replies: { 201: App },
    problems: [NotFound],
    async handle({ body, idempotencyKey }, context) {
      const { id, isNew } = await makeApp(await toDraft(body, false, context), context, idempotencyKey)
      // An existing app may have been restored without its actor knowing yet, and the caller of a repeated request may
      // have lost access since.
      const { state } = await openApp(isNew ? id : await context.apps.confirm(id), 'read', context)
      return reply(201, await showWhole(state, messages, context))
    },
  })

const get = (messages: AppMessages) =>
  route('GET /api/apps/{app}', {
    summary: 'Get an app',
    auth: 'token or key',
    params: AppPath,
    query: AppQuery,
    replies: { 200: App },
    problems: [NotFound],
    async handle({ params, query }, context) {
      const { state, level } = await openApp(params.app, query.trashed ? 'none' : 'read', context)
      const { deleted_at, trashed_at } = state.app
      const isShown = level !== 'none' && deleted_at === null && (trashed_at === null || level === 'admin')
      if (!isShown) throw NotFound()
      return reply(200, await showWhole(state, messages, context))
    },
  })

const update = (messages: AppMessages) =>
  route('PATCH /api/apps/{app}', {
    summary: 'Update an app',
    auth: 'token or key',
    params: AppPath,
    body: AppUpdate,
    bodyLimitBytes: pictureBodyLimitBytes,
    replies: { 200: App },
    problems: [Forbidden, NotFound],
    async handle({ params, body, by }, context) {
      const app = await toAppId(params.app, context)
      await requireFreeUid(app, body.uid, context)
      await context.apps.run(updateApp, app, by, await toChange(body, context))
      return reply(200, await showWhole(await context.apps.state(app), messages, context))
    },
  })

const upsert = (messages: AppMessages) =>
  route('PUT /api/apps/{uid}', {
    summary: 'Create an app or update the one with this uid',
    description:
      'The way to make apps: named by what they are about, such as `order-17`, and asked for by every page that ' +
      'shows them. The type never changes.',
    auth: 'token or key',
    params: UidPath,
    body: AppUpsert,
    bodyLimitBytes: pictureBodyLimitBytes,
    replies: { 200: App, 201: App },
    problems: [Forbidden],
    async handle({ params, body, by }, context) {
      const { id, isNew } = await upsertByUid(params.uid, body, context)
      const state = await context.apps.state(id)
      by.place?.found(state.app)
      const app = await showWhole(state, messages, context)
      return isNew ? reply(201, app) : reply(200, app)
    },
  })

const list = (messages: AppMessages) =>
  route('GET /api/apps', {
    summary: 'List apps: those the caller is a member of, or all with an API key',
    auth: 'token or key',
    query: AppListing,
    replies: { 200: AppList },
    async handle({ query }, context) {
      return reply(200, await listPage(query, messages, context))
    },
  })

/** A route that does nothing but run a command of an app. */
const change = <Loaded>(
  endpoint: `${Method} /api/apps/{app}${string}`,
  summary: string,
  command: Command<unknown, void, Loaded>,
  problems: ProblemType[] = [],
) =>
  route(endpoint, {
    summary,
    auth: 'token or key',
    params: AppPath,
    replies: { 204: null },
    problems: [...problems, Forbidden, NotFound],
    async handle({ params, by }, context) {
      await context.apps.run(command, await toAppId(params.app, context), by, undefined)
      return reply(204)
    },
  })

export const routes = (messages: AppMessages) => [
  list(messages),
  create(messages),
  get(messages),
  update(messages),
  upsert(messages),
  change('POST /api/apps/{app}/trash', 'Move an app to the trash', trashApp),
  change('POST /api/apps/{app}/restore', 'Take an app out of the trash', restoreApp, [PairHasChat]),
  change('DELETE /api/apps/{app}', 'Delete an app and all its content for good', deleteApp),
]
