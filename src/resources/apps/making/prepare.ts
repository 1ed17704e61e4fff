import type { Apps } from '../../../engine/apps.ts'
import { invalid } from '../../../lib/errors.ts'
import { preparePicture, withPicture, type PictureCaller } from '../../blobs/pictures/picture.ts'
import { findDirectoryId } from '../../directories/store.ts'
import { resolvePeople } from '../../users/store.ts'
import { listInvisible } from '../../users/visible.ts'
import { openApp } from '../find.ts'
import type { Served } from '../../route.ts'
import type { AppDraft } from './create.ts'
import { UidTaken, UnknownDirectory, UnknownPeople, type AppChange } from '../commands.ts'
import type { AppUpdate, NewApp } from '../schema.ts'
import { isUidTaken } from '../store.ts'

interface Caller extends Looking, PictureCaller {}

type Looking = Served<'sql' | 'by' | 'userCache'>

/** Resolves the references in the body of a new app. 422 for unknown members or directories. */
export async function toDraft(body: NewApp, isJoinable: boolean, caller: Caller): Promise<AppDraft> {
  const directory = await toChoice(body.directory, caller)
  if (directory?.isKnown === false) throw UnknownDirectory()
  return {
    type: body.type,
    uid: body.uid ?? null,
    name: body.name ?? null,
    description: body.description ?? null,
    metadata: body.metadata ?? null,
    tags: body.tags ?? [],
    access: body.access ?? 'none',
    directory_id: directory?.id ?? null,
    picture_id: (await preparePicture(body.picture, 'picture', caller)) ?? null,
    members: await toMembers(body.members ?? [], caller),
    isJoinable,
    isByAgent: caller.by.kind === 'user' && ((await caller.userCache.get(caller.by.user))?.is_agent ?? false),
  }
}

/** Resolves the references in an update; absent members stay absent. */
export async function toChange(body: AppUpdate, caller: Caller): Promise<AppChange> {
  const { directory, ...rest } = await withPicture(body, caller)
  const choice = await toChoice(directory, caller)
  return choice === undefined ? rest : { ...rest, directory: choice }
}

/**
 * Refuses a taken uid, for callers who may change the app's. The database would refuse it too, along with the other
 * commands of its commit; it still does for a uid that is taken at this moment.
 */
export async function requireFreeUid(
  app: number,
  uid: string | null | undefined,
  caller: Looking & { apps: Apps },
): Promise<void> {
  if (uid === null || uid === undefined || !(await isUidTaken(caller.sql, app, uid))) return
  const { level } = await openApp(app, 'none', caller)
  if (level === 'admin') throw UidTaken()
}

/** 422 on `field` for references to users whom the caller may not add. */
export async function requireVisible(refs: string[], field: string, caller: Looking): Promise<void> {
  const found = await lookUp(refs, field, caller)
  const unseen = found.filter(({ isKnown }) => !isKnown).map(({ ref }) => ref)
  if (unseen.length > 0) throw UnknownPeople(field, unseen)
}

async function toMembers(refs: string[], caller: Caller): Promise<AppDraft['members']> {
  const found = await lookUp(refs, 'members', caller)
  if (found.some(({ id }) => id <= 0)) throw invalid({ members: ['must be people or agents'] })
  await caller.userCache.load(found.map(({ id }) => id))
  return found.map(one => ({ ...one, isAgent: caller.userCache.show(one.id).is_agent }))
}

/** The referenced users, each once. 422 on `field` for unknown references. */
async function lookUp(
  refs: string[],
  field: string,
  { sql, by }: Looking,
): Promise<Omit<AppDraft['members'][number], 'isAgent'>[]> {
  const ids = await resolvePeople(sql, refs)
  const hidden = await listInvisible(sql, by, [...ids.values()])
  // One refusal for both: a user missing in a list of unknown ones would be known to exist.
  const unknown = refs.filter(ref => !ids.has(ref) || hidden.includes(ids.get(ref)!))
  if (refs.some(ref => !ids.has(ref))) throw UnknownPeople(field, unknown)
  const found = new Map(refs.map(ref => [ids.get(ref)!, ref]))
  return Array.from(found, ([id, ref]) => ({ id, ref, isKnown: !hidden.includes(id) }))
}

type Choice = NonNullable<AppChange['directory']>

/** Users know the directories that they are in, API keys all. */
async function toChoice(
  ref: string | null | undefined,
  { sql, by, userCache }: Caller,
): Promise<Choice | null | undefined> {
  if (ref === null || ref === undefined) return ref
  const id = await findDirectoryId(sql, ref)
  if (id === null) return { id: 0, isKnown: false }
  if (by.kind === 'key') return { id, isKnown: true }
  const person = await userCache.get(by.user)
  return { id, isKnown: person?.directories.some(directory => directory.id === id) ?? false }
}
