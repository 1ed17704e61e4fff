import type { AppState } from '../../engine/state.ts'
import { isSubscribed } from '../apps/represent.ts'
import type { AppMessages, AppRequest } from '../apps/show.ts'
import type { ContentRow } from '../content/schema.ts'
import { loadMine } from '../items/load.ts'
import { showContentSummary } from '../items/represent.ts'
import { showItem } from '../items/show.ts'
import { summaryOf } from '../users/represent.ts'
import { message } from './kind.ts'

/** The messages of apps: whether one is in an app, and the newest that a caller may see; nearly always from memory. */
export const messagesOfApps: AppMessages = {
  isIn: message.store.isIn,
  async findLast(state, request) {
    const row = await find(state, request)
    return row && { created_by: row.created_by, show: () => show(row, state, request) }
  },
}

async function find(state: AppState, { by, sql }: AppRequest): Promise<ContentRow | null> {
  const { app, recent } = state
  if (app.last_id === null) return null
  if (by.kind === 'user' && app.last_id <= (state.member(by.user)?.hidden_id ?? 0)) return null
  return (recent.find(app.last_id) as ContentRow | undefined) ?? message.store.find(sql, app.last_id)
}

async function show(last: ContentRow, state: AppState, request: AppRequest): Promise<object> {
  const { userCache, origin, by, sql } = request
  if (request.representation.items === 'details') return showItem(message, last, state, { userCache, origin, by, sql })
  const isMine = by.kind === 'user' && isSubscribed(state, by.user)
  const { starred } = await loadMine(sql, by, 'message', [last])
  return showContentSummary(last, isMine, starred.has(last.id), {
    created_by: summaryOf(userCache.show(last.created_by), origin),
  })
}
