import type { Apps } from '../../engine/apps.ts'
import type { AppState } from '../../engine/state.ts'
import type { Representation } from '../../http/route.ts'
import type { Sql } from '../../postgres/sql.ts'
import { showPicture } from '../blobs/pictures/picture.ts'
import { loadStarred } from '../content/mine.ts'
import { showContentSummary } from '../content/represent.ts'
import type { ContentRow } from '../content/schema.ts'
import { showItem } from '../content/show.ts'
import { message } from '../messages/kind.ts'
import { summaryOf, type Presence } from '../users/represent.ts'
import { namesakes } from './naming.ts'
import { firstMembers, isSubscribed, showApp, showAppSummary, type Viewer } from './represent.ts'

export interface AppRequest extends Viewer {
  presence: Presence
  sql: Sql
  apps: Apps
  form: Representation
}

/** The detailed app, with everybody it names brought into memory. */
export async function showWhole(state: AppState, request: AppRequest): Promise<object> {
  const { people, by } = request
  const last = await findLast(state, request)
  const names = [
    by.user,
    ...namesakes(state),
    ...firstMembers(state, people),
    ...(last === null ? [] : [last.created_by]),
  ]
  await people.load(names)
  const shown = showApp(state, request, last === null ? null : await showLast(last, state, request))
  const { picture_id } = state.app
  if (picture_id === null) return shown
  return { ...shown, picture: await showPicture(request.sql, picture_id, request.origin) }
}

/** The summary app, likewise. */
export async function showSummary(state: AppState, request: AppRequest): Promise<object> {
  await request.people.load([request.by.user, ...namesakes(state)])
  return showAppSummary(state, request)
}

/** The newest message that the caller may see; nearly always in memory. */
async function findLast(state: AppState, { by, sql }: AppRequest): Promise<ContentRow | null> {
  const { app, recent } = state
  if (app.last_id === null) return null
  if (by.kind === 'user' && app.last_id <= (state.member(by.user)?.hidden_id ?? 0)) return null
  return (recent.find(app.last_id) as ContentRow | undefined) ?? message.store.find(sql, app.last_id)
}

async function showLast(last: ContentRow, state: AppState, request: AppRequest): Promise<object> {
  const { people, origin, by, sql } = request
  if (request.form.items === 'details') return showItem(message, last, state, { people, origin, by, sql })
  const isMine = by.kind === 'user' && isSubscribed(state, by.user)
  const starred = await loadStarred(sql, by, [last])
  return showContentSummary(last, isMine, starred.has(last.id), {
    created_by: summaryOf(people.show(last.created_by), origin),
  })
}
