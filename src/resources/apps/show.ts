import type { AppState } from '../../engine/state.ts'
import type { Sql } from '../../postgres/sql.ts'
import { showPicture } from '../blobs/pictures/picture.ts'
import type { Served } from '../route.ts'
import { namesakes } from './naming.ts'
import { firstMembers, showApp, showAppSummary, type Viewer } from './represent.ts'

export type AppRequest = Viewer & Served<'presence' | 'sql' | 'apps' | 'representation'>

/** The newest message of an app that the caller may see. */
export interface LastMessage {
  created_by: number
  /** Its author must be in memory. */
  show: () => Promise<object>
}

/** The messages of apps, which come later in the order of resources. */
export interface AppMessages {
  isIn: (sql: Sql, app: number, id: number) => Promise<boolean>
  findLast: (state: AppState, request: AppRequest) => Promise<LastMessage | null>
}

/** The detailed app; loads all users that it names. */
export async function showWhole(state: AppState, messages: AppMessages, request: AppRequest): Promise<object> {
  const { userCache, by } = request
  const last = await messages.findLast(state, request)
  const names = [
    by.user,
    ...namesakes(state),
    ...firstMembers(state, userCache),
    ...(last === null ? [] : [last.created_by]),
  ]
  await userCache.load(names)
  const shown = showApp(state, request, last === null ? null : await last.show())
  const { picture_id } = state.app
  if (picture_id === null) return shown
  return { ...shown, picture: await showPicture(request.sql, picture_id, request.origin) }
}

/** The summary of an app; loads all users that it names. */
export async function showSummary(state: AppState, request: AppRequest): Promise<object> {
  await request.userCache.load([request.by.user, ...namesakes(state)])
  return showAppSummary(state, request)
}
