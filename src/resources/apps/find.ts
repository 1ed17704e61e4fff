import type { Apps } from '../../engine/apps.ts'
import type { Principal } from '../../auth/principal.ts'
import type { AppState } from '../../engine/state.ts'
import { NotFound, Problem } from '../../lib/errors.ts'
import type { Sql } from '../../postgres/sql.ts'
import { findAppId, findAppIds } from './store.ts'

interface Search {
  sql: Sql
  by: Principal
}

const isId = (ref: string) => /^\d+$/.test(ref)

/** The id behind `{app}`: digits are an id, anything else a uid. 404 for a uid that nobody has. */
export function toAppId(ref: string, { sql, by }: Search): number | Promise<number> {
  if (isId(ref)) return ref.length <= 15 ? Number(ref) : Promise.reject(NotFound())
  return findAppId(sql, ref, by).then(id => {
    if (id === null) throw NotFound()
    return id
  })
}

/** The ids behind several of these at once, in no order. What names nothing is left out, or is the id of nothing. */
export async function toAppIds(refs: string[], { sql, by }: Search): Promise<number[]> {
  const ids = refs.filter(ref => isId(ref) && ref.length <= 15).map(Number)
  const uids = refs.filter(ref => !isId(ref))
  return [...new Set([...ids, ...(uids.length === 0 ? [] : await findAppIds(sql, uids, by))])]
}

/** The state behind `{app}`. 404 for what is not there; whether the caller may see it is still to be asked. */
export async function findApp(ref: string, { sql, by, apps }: Search & { apps: Apps }): Promise<AppState> {
  return apps.state(await toAppId(ref, { sql, by }))
}

/**
 * The states of apps that a list found, by id, without those that were deleted since. `known`: one that the request has
 * found before, so that it need not be confirmed again.
 */
export async function findStates(
  ids: Iterable<number>,
  apps: Apps,
  known: AppState | null = null,
): Promise<Map<number, AppState>> {
  const find = (id: number) => (id === known?.app.id ? known : findUnlessGone(id, apps))
  const states = await Promise.all(Array.from(new Set(ids), find))
  return new Map(
    states.flatMap(state => (state === null || state.app.deleted_at !== null ? [] : [[state.app.id, state]])),
  )
}

/** The state of an app; null where there is none, or no longer. */
export async function findUnlessGone(id: number, apps: Apps): Promise<AppState | null> {
  try {
    const state = await apps.state(id)
    return state.app.deleted_at === null ? state : null
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null
    throw error
  }
}
