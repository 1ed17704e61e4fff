import type { Apps } from '../../engine/apps.ts'
import type { Principal } from '../../auth/principal.ts'
import type { AppState } from '../../engine/state.ts'
import type { Representation } from '../../http/route.ts'
import { toPagedList } from '../../api/page.ts'
import { findStates } from '../apps/find.ts'
import { namesakes } from '../apps/naming.ts'
import type { ContentEntity, ContentKind } from '../content/kind.ts'
import type { ContentPage } from '../content/lists/list.ts'
import type { PartReader } from '../content/parts/part.ts'
import { loadAbout, loadMine, loadParts, noMine } from './load.ts'
import { hasParts, mapParts, namesOf, type ContentItem } from './parts.ts'
import { isSubscribedTo, showContent, showContentSummary, subscriptionOf, type Reading } from './represent.ts'
import { showRow } from './row.ts'

interface Reader extends PartReader {
  representation?: Representation
}

interface ContentRequest extends Reader {
  apps: Apps
  representation: Representation
}

/** A detailed item with its parts; loads the users that it names. Synchronous where all is in memory. */
export function showItem(
  { entity }: ContentKind,
  item: ContentItem,
  state: AppState,
  reader: Reader,
): object | Promise<object> {
  const { by, userCache } = reader
  const isKnown = (id: number) => userCache.find(id) !== undefined
  const isThere = isPlain(entity, item, by) && namesOf(item).every(isKnown) && namesakes(state).every(isKnown)
  return isThere
    ? showContent(entity, item, state, nothing, reader, showRow(item))
    : showWhole(entity, item, state, reader)
}

async function showWhole(entity: ContentEntity, item: ContentItem, state: AppState, reader: Reader): Promise<object> {
  const reading = await read(entity, [item], reader)
  await reader.userCache.load([...namesOf(item, reading.parts.get(item.id)), ...namesakes(state)])
  return showContent(entity, item, state, reading, reader, showRow(item))
}

/** Reads the data about some items for one caller. */
async function read(entity: ContentEntity, items: readonly ContentItem[], reader: Reader): Promise<Reading> {
  const { sql, by, representation } = reader
  if (items.every(item => isPlain(entity, item, by))) return nothing
  const loading = loadParts(sql, items, representation?.inner === 'all' ? by : null)
  const [parts, about, mine] = await Promise.all([
    loading,
    loadAbout(items, loading, reader),
    loadMine(sql, by, entity, items),
  ])
  return { parts, about, mine }
}

const nothing: Reading = { parts: new Map(), about: mapParts(() => undefined), mine: noMine }

/** True where nothing beside the row is needed, as for nearly every message. */
function isPlain(entity: ContentEntity, item: ContentItem, by: Principal): boolean {
  if (item.parts !== undefined || hasParts(item)) return false
  return by.kind !== 'user' || (item.star_count === 0 && subscriptionOf(entity, item) === null)
}

/** Whole items of one app that are read and yet to be shown, when the users of `names` are in memory. */
export async function readItems(
  { entity }: ContentKind,
  rows: readonly ContentItem[],
  reader: Reader,
  state: AppState,
): Promise<{ names: number[]; show: () => object[] }> {
  const reading = await read(entity, rows, reader)
  return {
    names: rows.flatMap(row => namesOf(row, reading.parts.get(row.id))),
    show: () => rows.map(row => showContent(entity, row, state, reading, reader, showRow(row))),
  }
}

/**
 * A list of items in the representation that the caller chose, without items of apps deleted since. `known`: where all
 * are of one app, its opened state.
 */
export async function showPage(
  { entity }: ContentKind,
  { rows: found, count, page }: ContentPage,
  request: ContentRequest,
  known: AppState | null = null,
): Promise<object> {
  const { sql, by, representation, userCache } = request
  const ids = found.map(row => row.app_id)
  const states = await findStates(ids, request, known)
  const rows = found.filter(row => states.has(row.app_id))
  const stateOf = (row: ContentItem) => states.get(row.app_id)!
  if (representation.items === 'summary') {
    const { starred, subscribed } = await loadMine(sql, by, entity, rows)
    const isMine = (row: ContentItem) => isSubscribedTo(subscriptionOf(entity, row), subscribed, stateOf(row), by)
    const items = rows.map(row => showContentSummary(row, isMine(row), starred.has(row.id)))
    return toPagedList(page, count, items)
  }
  const reading = await read(entity, rows, request)
  const names = [...states.values()].flatMap(namesakes)
  await userCache.load([...names, ...rows.flatMap(row => namesOf(row, reading.parts.get(row.id)))])
  const items = rows.map(row => showContent(entity, row, stateOf(row), reading, request))
  return toPagedList(page, count, items)
}
