import { isDeepStrictEqual } from 'node:util'
import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { cancelRunsOfAgent } from '../../agents/runs/store.ts'
import { audit, differences } from '../../audit/audit.ts'
import { invalid, requireFound } from '../../lib/errors.ts'
import { foldName } from '../../lib/name.ts'
import { requireUid, type Saved } from '../users/commands.ts'
import { createProfile, toTarget, uidTaken, updateProfile, type UserChange } from '../users/profile.ts'
import { lockUser, removeUser, updateTrashed, type StoredUser } from '../users/store.ts'
import { functionStore, toRow } from './functions/kind.ts'
import type { NewAgentFunction } from './functions/schema.ts'
import { lockActive, lockAgent } from './find.ts'
import { builtin, type AgentUpdate } from './schema.ts'
import * as store from './store.ts'
import type { AgentSettings } from './store.ts'

export type AgentChange = Omit<AgentUpdate, 'picture'> & { picture?: number | null }

type NewAgent = AgentChange & Pick<AgentSettings, 'provider' | 'model'> & { uid: string }

/** Makes an agent. 422 for a taken uid, unknown directories, and knowledge that is not a files app. */
export const createAgent = globalCommand('createAgent', async (work: GlobalWork, given: NewAgent): Promise<Saved> => {
  const id = await create(work, given)
  if (id === null) throw invalid(uidTaken)
  return { id, isNew: true }
})

/**
 * Changes an agent: absent members stay, null clears, functions are replaced as a set. An update without a change
 * writes nothing. Refuses with 404 for trashed agents and for users, with 422 as `createAgent`.
 */
export const updateAgent = globalCommand(
  'updateAgent',
  async (work: GlobalWork, { agent, given }: { agent: string; given: AgentChange }): Promise<Saved> => {
    const stored = await lockActive(work, agent)
    await update(work, stored, given)
    return { id: stored.id, isNew: false }
  },
)

/**
 * Makes the agent with this uid, or changes it, keeping the uid on null. A trashed one is changed too and stays
 * trashed.
 */
export const upsertAgent = globalCommand(
  'upsertAgent',
  async (work: GlobalWork, { uid, given }: { uid: string; given: AgentChange }): Promise<Saved> => {
    requireUid(uid)
    const stored = await lockUser(work.sql, uid)
    if (stored !== null) return change(work, stored, given)
    const { provider, model } = given
    if (given.uid != null && foldName(given.uid) !== foldName(uid)) {
      throw invalid({ uid: ['must be the one in the path'] })
    }
    requireNew(given)
    const id = await create(work, { ...given, provider: provider!, model: model!, uid })
    if (id !== null) return { id, isNew: true }
    // A concurrent command has made it: its commit is over, so the row exists now.
    const made = await lockUser(work.sql, uid)
    if (made === null) throw invalid(uidTaken)
    return change(work, made, given)
  },
)

/**
 * Trashes an agent: its tokens stop being valid, and it answers nothing any more. Returns its id. Repeating changes
 * nothing.
 */
export const trashAgent = globalCommand('trashAgent', async (work: GlobalWork, agent: string): Promise<number> => {
  const stored = await lockAgent(work, agent)
  if (stored.trashed_at !== null) return stored.id
  await updateTrashed(work.sql, stored.id, work.now)
  await cancelRunsOfAgent(work.sql, stored.id, work.now)
  audit(work, { action: 'agent_trashed', target: toTarget(stored) })
  work.changed('user_trashed', 'user', stored.id)
  return stored.id
})

export const restoreAgent = globalCommand('restoreAgent', async (work: GlobalWork, agent: string) => {
  const stored = await lockAgent(work, agent)
  if (stored.trashed_at === null) return
  await updateTrashed(work.sql, stored.id, null)
  audit(work, { action: 'agent_restored', target: toTarget(stored) })
  work.changed('user_restored', 'user', stored.id)
})

/** Deletes an agent with its functions and tool servers. Its content stays, by the deleted user. */
export const deleteAgent = globalCommand('deleteAgent', async (work: GlobalWork, agent: string) => {
  const stored = await lockAgent(work, agent)
  await removeUser(work.sql, stored.id)
  audit(work, { action: 'agent_deleted', target: toTarget(stored) })
  work.changed('user_deleted', 'user', stored.id)
})

async function change(work: GlobalWork, stored: StoredUser, given: AgentChange): Promise<Saved> {
  if (!stored.is_agent) throw invalid(uidTaken)
  await update(work, stored, { ...given, uid: given.uid ?? undefined })
  return { id: stored.id, isNew: false }
}

/** 422 where an upsert makes an agent without the members that a new one requires. */
function requireNew({ provider, model }: AgentChange): void {
  const needed = 'is required where there is no such agent yet'
  const errors = {
    ...(provider === undefined && { provider: [needed] }),
    ...(provider === builtin && { provider: ['must be a vendor: builtin is chosen when an agent is created'] }),
    ...(model === undefined && { model: [needed] }),
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

async function create(work: GlobalWork, given: NewAgent): Promise<number | null> {
  const { provider, model } = given
  const blank: AgentSettings = {
    provider,
    model,
    instructions: null,
    knowledge: [],
    web_search: false,
    max_tokens: null,
  }
  const settings = await merge(work, blank, given)
  const id = await createProfile(work, { given: { ...toProfile(given), uid: given.uid }, isAgent: true })
  if (id === null) return null
  await store.saveSettings(work.sql, id, settings)
  for (const row of (given.functions ?? []).map(toRow)) await functionStore.insert(work.sql, work.vault, id, row)
  return id
}

async function update(work: GlobalWork, stored: StoredUser, given: AgentChange): Promise<void> {
  const { sql } = work
  const before = requireFound(await store.findSettings(sql, stored.id))
  if (given.provider === builtin && before.provider !== builtin) {
    throw invalid({ provider: ['must be a vendor: builtin is chosen when an agent is created'] })
  }
  const settings = await merge(work, before, given)
  const isSet = !isDeepStrictEqual(settings, before)
  if (isSet) await store.saveSettings(sql, stored.id, settings)
  const areReplaced = await replaceFunctions(work, stored.id, given.functions)
  const changed = differences({ ...before, functions: false }, { ...settings, functions: areReplaced }, [
    'provider',
    'model',
    'knowledge',
    'web_search',
    'max_tokens',
  ])
  if (changed !== null) audit(work, { action: 'agent_updated', target: toTarget(stored), ...changed })
  await updateProfile(work, stored, toProfile(given), isSet || areReplaced)
}

async function replaceFunctions(
  { sql, vault }: GlobalWork,
  agent: number,
  given: NewAgentFunction[] | null | undefined,
): Promise<boolean> {
  if (given === undefined) return false
  const rows = (given ?? []).map(toRow)
  const before = Array.from(await functionStore.list(sql, agent), row => functionStore.open(vault, row))
  if (isDeepStrictEqual(rows, before)) return false
  await functionStore.removeAll(sql, agent)
  for (const row of rows) await functionStore.insert(sql, vault, agent, row)
  return true
}

async function merge(work: GlobalWork, before: AgentSettings, given: AgentChange): Promise<AgentSettings> {
  const { provider, model, instructions, knowledge, web_search, max_tokens } = given
  return {
    provider: provider ?? before.provider,
    model: model ?? before.model,
    instructions: instructions === undefined ? before.instructions : instructions || null,
    knowledge: knowledge === undefined ? before.knowledge : await requireKnowledge(work, knowledge ?? []),
    web_search: web_search === undefined ? before.web_search : (web_search ?? false),
    max_tokens: max_tokens === undefined ? before.max_tokens : max_tokens,
  }
}

/** Ids in the given order, each once. */
async function requireKnowledge({ sql }: GlobalWork, refs: string[]): Promise<number[]> {
  if (refs.length === 0) return []
  const found = await store.resolveFilesApps(sql, refs)
  const unknown = refs.filter(ref => !found.has(ref))
  if (unknown.length > 0) throw invalid({ knowledge: unknown.map(ref => `there is no files app ${ref}`) })
  return [...new Set(refs.map(ref => found.get(ref)!))]
}

function toProfile({ uid, name, picture, directories, comment, tags, metadata }: AgentChange): UserChange {
  return { uid, name, directories, comment, tags, metadata, ...(picture !== undefined && { picture }) }
}
