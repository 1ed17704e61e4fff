import type { People } from '../../actors/people.ts'
import type { Principal } from '../../actors/principal.ts'
import { invalid } from '../../lib/errors.ts'
import type { Sql } from '../../storage/sql.ts'
import { findDirectoryId } from '../directories/store.ts'
import { resolvePeople } from '../users/store.ts'
import { listInvisible } from '../users/visible.ts'
import type { AppDraft } from './create.ts'
import type { AppChange } from './commands.ts'
import type { AppUpdate, NewApp } from './schema.ts'

interface Caller {
  sql: Sql
  by: Principal
  people: People
}

/** Looks up what the body of a new app names. 422 for unknown members or directories, or members out of sight. */
export async function toDraft(body: NewApp, isJoinable: boolean, caller: Caller): Promise<AppDraft> {
  const directory = await toDirectoryId(body.directory, caller)
  return {
    type: body.type,
    uid: body.uid ?? null,
    name: body.name || null,
    description: body.description ?? null,
    metadata: body.metadata ?? null,
    tags: body.tags ?? [],
    access: body.access ?? 'none',
    directory_id: directory ?? null,
    members: await toMembers(body.members ?? [], caller),
    isJoinable,
  }
}

/** The same for an update: absent members stay absent. */
export async function toChange(body: AppUpdate, caller: Caller): Promise<AppChange> {
  const { directory, picture: _, ...rest } = body
  const id = await toDirectoryId(directory, caller)
  return id === undefined ? rest : { ...rest, directory_id: id }
}

/** The ids behind references to people whom the caller may add; 422 on `field` otherwise. */
export async function toVisibleIds(refs: string[], field: string, { sql, by }: Caller): Promise<number[]> {
  const ids = await resolvePeople(sql, refs)
  const unknown = refs.filter(ref => !ids.has(ref))
  if (unknown.length > 0) throw invalid({ [field]: unknown.map(ref => `there is no user ${ref}`) })
  const unique = [...new Set(refs.map(ref => ids.get(ref)!))]
  const hidden = by.kind === 'key' ? [] : await listInvisible(sql, by.user, unique)
  if (hidden.length > 0) throw invalid({ [field]: hidden.map(id => `there is no user ${id}`) })
  return unique
}

async function toMembers(refs: string[], caller: Caller): Promise<AppDraft['members']> {
  const ids = (await toVisibleIds(refs, 'members', caller)).filter(id => id !== caller.by.user && id > 0)
  await caller.people.load(ids)
  return ids.map(id => ({ id, isAgent: caller.people.show(id).is_agent }))
}

async function toDirectoryId(ref: string | null | undefined, { sql }: Caller): Promise<number | null | undefined> {
  if (ref === null || ref === undefined) return ref
  const id = await findDirectoryId(sql, ref)
  if (id === null) throw invalid({ directory: [`there is no directory ${ref}`] })
  return id
}
