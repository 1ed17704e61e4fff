import type { Apps } from '../../engine/apps.ts'
import type { Access, AppState } from '../../engine/state.ts'
import { ignoreNotFound, NotFound, requireFound } from '../../lib/errors.ts'
import type { Served } from '../route.ts'
import { levelOf, requireRead, requireWrite } from './members/access.ts'
import { findAppId, findNamed, listNamed } from './store.ts'

type Search = Served<'sql' | 'by'>

type Caller = Served<'by' | 'apps' | 'userCache'>

/** An app including all earlier commits, and the caller's access. */
export interface OpenedApp {
  state: AppState
  level: Access
}

/** The least access for opening an app: `none` refuses nothing, `read` refuses with 404, `write` with 404 and 403. */
const guards = { none: levelOf, read: requireRead, write: requireWrite }

/** Digits of the largest id that JavaScript represents exactly. */
const longestId = 15

const isId = (ref: string) => /^\d+$/.test(ref)

/** The id for `{app}`: digits are an id, anything else a uid. 404 for an unknown uid. */
export function toAppId(ref: string, { sql, by }: Search): number | Promise<number> {
  if (isId(ref)) return ref.length <= longestId ? Number(ref) : Promise.reject(NotFound())
  return findAppId(sql, ref, by).then(requireFound)
}

/** The ids for several references, in no order. Unknown ones are left out, or get an id that no app has. */
export async function toAppIds(refs: string[], { sql, by }: Search): Promise<number[]> {
  const ids = refs.filter(ref => isId(ref) && ref.length <= longestId).map(Number)
  const uids = refs.filter(ref => !isId(ref))
  const named = uids.length === 0 ? [] : await listNamed(sql, uids, by)
  return [...new Set([...ids, ...named.map(({ id }) => id)])]
}

/**
 * Opens an app for a caller, by `{app}`, an id, or a state just found. 404 where it does not exist or the caller may
 * not see it, 403 where the caller needs write access and may only read. Writes of other nodes are included, by one
 * look-up.
 */
export async function openApp(
  ref: string | number | AppState,
  least: keyof typeof guards,
  caller: Caller & Search,
): Promise<OpenedApp> {
  const { by, userCache } = caller
  const state = typeof ref === 'object' ? ref : await findState(ref, caller)
  by.place?.found(state.app)
  // Without the caller's directories, an app that is open to one of them would be refused.
  if (userCache.find(by.user) === undefined) await userCache.load([by.user])
  return { state, level: guards[least](state, by, userCache) }
}

function findState(ref: string | number, { sql, by, apps }: Caller & Search): AppState | Promise<AppState> {
  if (typeof ref === 'number') return apps.state(ref)
  if (isId(ref)) return ref.length <= longestId ? apps.state(Number(ref)) : Promise.reject(NotFound())
  return findNamed(sql, ref, by).then(named => {
    const { id, head_rev } = requireFound(named)
    return apps.stateAt(id, head_rev)
  })
}

/**
 * The states of the apps in a list, by id, without apps deleted since; loads what the caller's access depends on.
 * `known`: a state that the request has opened before, and that need not be confirmed again.
 */
export async function findStates(
  ids: Iterable<number>,
  { by, apps, userCache }: Caller,
  known: AppState | null = null,
): Promise<Map<number, AppState>> {
  if (userCache.find(by.user) === undefined) await userCache.load([by.user])
  const find = (id: number) => (id === known?.app.id ? known : findUnlessGone(id, apps))
  const states = await Promise.all(Array.from(new Set(ids), find))
  return new Map(
    states.flatMap(state => (state === null || state.app.deleted_at !== null ? [] : [[state.app.id, state]])),
  )
}

/** The state of an app; null where it does not exist any more. */
export async function findUnlessGone(id: number, apps: Apps): Promise<AppState | null> {
  try {
    const state = await apps.state(id)
    return state.app.deleted_at === null ? state : null
  } catch (error) {
    ignoreNotFound(error)
    return null
  }
}
