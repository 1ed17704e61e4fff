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
    async handle({ body, by, representation, idempotencyKey, origin }, services) {
      const caller = { ...services, by, representation, origin }
      const { id, isNew } = await makeApp(await toDraft(body, false, caller), caller, idempotencyKey)
      // An existing app may have been restored without its actor knowing yet, and the caller of a repeated request may
      // have lost access since.
      const { state } = await openApp(isNew ? id : await services.apps.confirm(id), 'read', caller)
      return reply(201, await showWhole(state, messages, caller))
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
    async handle({ params, query, by, representation, origin }, { sql, apps, userCache, presence }) {
      const caller = { by, representation, origin, sql, apps, userCache, presence }
      const { state, level } = await openApp(params.app, query.trashed ? 'none' : 'read', caller)
      const { deleted_at, trashed_at } = state.app
      const isShown = level !== 'none' && deleted_at === null && (trashed_at === null || level === 'admin')
      if (!isShown) throw NotFound()
      return reply(200, await showWhole(state, messages, caller))
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
    async handle({ params, body, by, representation, origin }, services) {
      const caller = { ...services, by, representation, origin }
      const app = await toAppId(params.app, caller)
      await requireFreeUid(app, body.uid, caller)
      await services.apps.run(updateApp, app, by, await toChange(body, caller))
      return reply(200, await showWhole(await services.apps.state(app), messages, caller))
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
    async handle({ params, body, by, representation, origin }, services) {
      const caller = { ...services, params, body, by, representation, origin }
      const { id, isNew } = await upsertByUid(caller)
      const state = await services.apps.state(id)
      by.place?.found(state.app)
      const app = await showWhole(state, messages, caller)
      return isNew ? reply(201, app) : reply(200, app)
    },
  })

const list = (messages: AppMessages) =>
  route('GET /api/apps', {
    summary: 'List apps: those the caller is a member of, or all with an API key',
    auth: 'token or key',
    query: AppListing,
    replies: { 200: AppList },
    async handle({ query, by, representation, origin }, { sql, apps, userCache, presence }) {
      return reply(200, await listPage(query, messages, { by, representation, origin, sql, apps, userCache, presence }))
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
    async handle({ params, by }, { sql, apps }) {
      await apps.run(command, await toAppId(params.app, { by, sql }), by, undefined)
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
