import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { audit } from '../../audit/audit.ts'
import { invalid, requireFound } from '../../lib/errors.ts'
import { violatedConstraint } from '../../postgres/sql.ts'
import { SpecialUser } from '../users/schema.ts'
import { resolvePeople } from '../users/store.ts'
import { DirectoryExists, PeopleUnknown } from './schema.ts'
import * as store from './store.ts'

/** The most apps that a round of `deleteDirectory` returns. A guess: as many as one group commit takes easily. */
const roundSize = 200

export interface Membership {
  directory: string
  people: string[]
}

/** Makes a directory and returns its id. 409 for a taken name. */
export const createDirectory = globalCommand(
  'createDirectory',
  async (work: GlobalWork, name: string): Promise<number> => {
    const id = await store.insertDirectory(work.sql, name, work.now)
    if (id === null) throw DirectoryExists({ name })
    audit(work, { action: 'directory_created', target: { type: 'directory', id, name } })
    work.changed('directory_created', 'directory', id)
    return id
  },
)

/** Renames a directory. 422 for a taken name. */
export const renameDirectory = globalCommand(
  'renameDirectory',
  async (work: GlobalWork, { directory, name }: { directory: string; name: string }): Promise<number> => {
    const stored = await requireDirectory(work, directory)
    if (stored.name === name) return stored.id
    try {
      await store.renameDirectory(work.sql, stored.id, name)
    } catch (error) {
      if (violatedConstraint(error) === 'directories_name') throw invalid({ name: ['is taken by another directory'] })
      throw error
    }
    audit(work, {
      action: 'directory_updated',
      target: { type: 'directory', id: stored.id, name },
      before: { name: stored.name },
      after: { name },
    })
    work.changed('directory_updated', 'directory', stored.id)
    return stored.id
  },
)

const changePeople = (verb: 'add' | 'remove', changeMembers: typeof store.addMembers) =>
  globalCommand(`${verb}People`, async (work: GlobalWork, { directory, people }: Membership) => {
    const { id, name } = await requireDirectory(work, directory)
    const users = await changeMembers(work.sql, id, await requirePeople(work, people))
    if (users.length === 0) return
    const target = { type: 'directory', id, name }
    if (verb === 'add') audit(work, { action: 'directory_members_added', target, after: { users } })
    else audit(work, { action: 'directory_members_removed', target, before: { users } })
    work.changed('directory_members_changed', 'directory', id, { users })
  })

/** Adds people and agents, all or none. Refuses with 404 for unknown ones, 403 for the special users. */
export const addPeople = changePeople('add', store.addMembers)

/** Removes users; ignores those who are not members. Refuses as `addPeople`. */
export const removePeople = changePeople('remove', store.removeMembers)

/**
 * Deletes a directory without references from apps, and its memberships. Where apps refer to it, changes nothing and
 * returns some of them: they have to be closed first, so that they do not become more open.
 */
export const deleteDirectory = globalCommand('deleteDirectory', async (work: GlobalWork, directory: string) => {
  const { id, name } = await requireDirectory(work, directory, true)
  const apps = await store.listDependents(work.sql, id, roundSize)
  if (apps.length === 0) {
    await store.removeDirectory(work.sql, id)
    audit(work, { action: 'directory_deleted', target: { type: 'directory', id, name } })
    work.changed('directory_deleted', 'directory', id)
  }
  return { id, apps }
})

async function requireDirectory({ sql }: GlobalWork, ref: string, forDeletion = false): Promise<store.DirectoryRow> {
  return requireFound(await store.lockDirectory(sql, ref, forDeletion))
}

async function requirePeople({ sql }: GlobalWork, refs: string[]): Promise<number[]> {
  const found = await resolvePeople(sql, refs)
  const unknown = refs.filter(ref => !found.has(ref))
  if (unknown.length > 0) throw PeopleUnknown({ unknown })
  const ids = [...new Set(found.values())]
  if (ids.some(id => id <= 0)) throw SpecialUser()
  return ids
}
