import type { Scene } from '../../actors/event.ts'
import type { AppState } from '../../actors/state.ts'
import { Extended, Fixed, verbatim } from '../../lib/json.ts'
import { isSubscribed, showAppRef, showAppSummary, type Viewer } from '../apps/represent.ts'
import { summaryOf } from '../users/represent.ts'
import type { ContentRow } from './schema.ts'

const fixedRows = new WeakMap<ContentRow, Fixed>()

/** The same, written once for as long as the row is in memory: lists read it again and again. */
function fixRow(row: ContentRow): Fixed {
  let fixed = fixedRows.get(row)
  if (fixed === undefined) fixedRows.set(row, (fixed = new Fixed(showRow(row))))
  return fixed
}

/** The parts of an item that depend on nobody. */
function showRow(row: ContentRow) {
  return {
    id: row.id,
    text: row.text,
    html: row.html,
    plain: row.plain,
    metadata: verbatim(row.metadata),
    tags: row.tags,
    is_trashed: row.trashed_at !== null,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

/** The summary item of lists; `more` comes in front of it. */
export function showContentSummary(row: ContentRow, isSubscribedTo: boolean, more: object = {}) {
  return new Extended({ ...more, is_starred: false, is_subscribed: isSubscribedTo }, fixRow(row))
}

/** The detailed item. Its author, its editor and the namesakes of its app must be in memory. */
export function showContent(row: ContentRow, state: AppState, viewer: Viewer) {
  const { by, people, origin } = viewer
  return {
    is_starred: false,
    is_subscribed: by.kind === 'user' && isSubscribed(state, by.user),
    ...showRow(row),
    app: showAppSummary(state, viewer),
    created_by: summaryOf(people.show(row.created_by), origin),
    updated_by: row.updated_by === null ? null : summaryOf(people.show(row.updated_by), origin),
  }
}

/** The whole item as events carry it: one text for everybody. */
export function presentContent(row: ContentRow, { app, people, origin }: Scene) {
  return {
    ...showRow(row),
    app: showAppRef(app, people, origin),
    created_by: summaryOf(people.show(row.created_by), origin),
    updated_by: row.updated_by === null ? null : summaryOf(people.show(row.updated_by), origin),
  }
}

/** The same without what was written: webhook receivers fetch that with a token of their user. */
export function redactContent(row: ContentRow, scene: Scene) {
  return { ...presentContent(row, scene), text: null, html: null, plain: null }
}
