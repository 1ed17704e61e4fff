import type { AppState } from '../../../engine/state.ts'
import { toPage, toPagedList, type PagedList } from '../../../api/page.ts'
import { findDirectory } from '../../directories/store.ts'
import { findUserId } from '../../users/store.ts'
import { findStates } from '../find.ts'
import type { Served } from '../../route.ts'
import { listApps } from './pages.ts'
import { orderFields, type AppFilter } from './source.ts'
import type { AppListing } from '../schema.ts'
import { showSummary, showWhole, type AppMessages, type AppRequest } from '../show.ts'

/** One page of the apps that the caller is a member of; for an API key, of all apps. */
export async function listPage(
  query: AppListing,
  messages: AppMessages,
  request: AppRequest,
): Promise<PagedList<object>> {
  const page = toPage(query, orderFields, 'id')
  const filter = await toFilter(query, request)
  if (filter === null) return toPagedList(page, 0, [])
  const { ids, count } = await listApps(request.sql, filter, page)
  const states = [...(await findStates(ids, request)).values()]
  const show = (state: AppState) =>
    request.representation.items === 'details' ? showWhole(state, messages, request) : showSummary(state, request)
  return toPagedList(page, count, await Promise.all(states.map(show)))
}

/** Null where a named user or directory does not exist, or the caller is not in it: nothing matches. */
async function toFilter(query: AppListing, { sql, by }: Served<'sql' | 'by'>): Promise<AppFilter | null> {
  const directory = query.directory === undefined ? null : await findDirectory(sql, query.directory, by)
  const member = query.member === undefined ? null : await findUserId(sql, query.member)
  if (query.directory !== undefined && directory === null) return null
  if (query.member !== undefined && member === null) return null
  return {
    by,
    types: query.type ?? [],
    directory: directory?.id ?? null,
    member,
    isArchived: query.archived ?? null,
    isUnread: query.unread ?? null,
    ...toUidFilter(query.uid),
  }
}

/** `true` and `false` filter by having a uid; other values are uids, of which any may match. */
function toUidFilter(uids: string[] | undefined): Pick<AppFilter, 'hasUid' | 'uids'> {
  const flag = uids?.length === 1 ? uids[0]!.toLowerCase() : undefined
  if (flag === 'true' || flag === 'false') return { hasUid: flag === 'true', uids: null }
  return { hasUid: null, uids: uids ?? null }
}
