import type { Apps } from '../../actors/apps.ts'
import type { AppState } from '../../actors/state.ts'
import type { Form } from '../../http/route.ts'
import { toPagedList } from '../../storage/page.ts'
import { namesakes } from '../apps/naming.ts'
import { isSubscribed, type Viewer } from '../apps/represent.ts'
import type { ContentPage } from './list.ts'
import { showContent, showContentSummary } from './represent.ts'
import type { ContentRow } from './schema.ts'

interface ContentRequest extends Viewer {
  apps: Apps
  form: Form
}

/** The detailed item, with everybody it names brought into memory. */
export async function showItem(row: ContentRow, state: AppState, viewer: Viewer): Promise<object> {
  await viewer.people.load([row.created_by, row.updated_by ?? 0, ...namesakes(state)])
  return showContent(row, state, viewer)
}

/** A list of items in the form that the caller chose. */
export async function showPage({ rows, count, page }: ContentPage, request: ContentRequest): Promise<object> {
  const { apps, by, form } = request
  const items: object[] = []
  for (const row of rows) {
    const state = apps.peek(row.app_id) ?? (await apps.state(row.app_id))
    if (form.items === 'details') items.push(await showItem(row, state, request))
    else items.push(showContentSummary(row, by.kind === 'user' && isSubscribed(state, by.user)))
  }
  return toPagedList(page, count, items)
}
