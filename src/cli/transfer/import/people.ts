import { foldName } from '../../../lib/name.ts'
import type { Tx } from '../../../postgres/sql.ts'
import { toDisplayName } from '../../../resources/users/profile.ts'
import type { LineOf } from '../format.ts'
import type { Numbered } from '../lines.ts'
import type { Refs } from './refs.ts'
import { drawIds, insertRows } from './rows.ts'

/** Adds directories; one with the same name is taken as it is. */
export async function addDirectories(tx: Tx, refs: Refs, lines: Numbered<LineOf<'directory'>>[]): Promise<number> {
  const missing = lines.filter(({ id }) => refs.find('directory', id) === undefined)
  const rows = await tx<{ id: number; fold: string }[]>`
    select id, fold_name(name) as fold from directories
    where fold_name(name) = any(array(select fold_name(n) from unnest(${missing.map(({ name }) => name)}::text[]) n))`
  const known = new Map(rows.map(({ id, fold }) => [fold, id]))
  const ids = await drawIds(tx, 'directories', missing.length)
  const made = []
  for (const { id: ref, name, created_at } of missing) {
    const found = known.get(foldName(name))
    const id = found ?? ids.shift()!
    refs.add('directory', ref, id)
    known.set(foldName(name), id)
    if (found === undefined) made.push({ id, name, created_at: created_at ?? new Date() })
  }
  await insertRows(tx, 'directories', made)
  return made.length
}

/** Adds users and agents; one with the same uid is taken as it is. */
export async function addUsers(tx: Tx, refs: Refs, lines: Numbered<LineOf<'user'>>[]): Promise<number> {
  const missing = lines.filter(({ id }) => refs.find('user', id) === undefined)
  const uids = missing.flatMap(({ uid }) => uid ?? [])
  const rows = await tx<{ id: number; fold: string }[]>`
    select id, fold_name(uid) as fold from users
    where fold_name(uid) = any(array(select fold_name(u) from unnest(${uids}::text[]) u))`
  const known = new Map(rows.map(({ id, fold }) => [fold, id]))
  const ids = await drawIds(tx, 'users', missing.length)
  const [made, inDirectories, agents] = [[], [], []] as object[][]
  for (const { type: _, id: ref, number, directories, agent, uid = null, ...line } of missing) {
    const found = uid === null ? undefined : known.get(foldName(uid))
    const id = found ?? ids.shift()!
    refs.add('user', ref, id)
    if (found !== undefined) continue
    if (uid !== null) known.set(foldName(uid), id)
    const { name = null, given_name = null, middle_name = null, family_name = null, ...more } = line
    const { nickname = null, username = null, created_at, tags, ...rest } = more
    const names = { uid, name, given_name, middle_name, family_name, nickname, username }
    const derived = { is_agent: Boolean(agent), display_name: toDisplayName(id, names) }
    made!.push({ ...rest, ...names, ...derived, id, tags: tags ?? [], created_at: created_at ?? new Date() })
    for (const directory of new Set(directories))
      inDirectories!.push({ directory_id: refs.need('directory', directory, number).id, user_id: id })
    if (agent) agents!.push({ user_id: id, knowledge: [], ...agent, web_search: agent.web_search ?? false })
  }
  await insertRows(tx, 'users', made!)
  await insertRows(tx, 'directory_members', inDirectories!)
  await insertRows(tx, 'agents', agents!)
  return made!.length
}

export async function addFollows(tx: Tx, refs: Refs, lines: Numbered<LineOf<'follow'>>[]): Promise<void> {
  const rows = lines.map(({ user, followed, created_at, number }) => ({
    user_id: refs.need('user', user, number).id,
    followed_id: refs.need('user', followed, number).id,
    created_at,
  }))
  await insertRows(tx, 'follows', rows, 'on conflict do nothing')
}
