import { loadingCommand, type Work } from '../../engine/command.ts'
import type { EventType } from '../../engine/event.ts'
import type { Principal } from '../../auth/principal.ts'
import { NotFound } from '../../lib/errors.ts'
import type { Db } from '../../postgres/sql.ts'
import type { ContentEntity } from '../content/kind.ts'
import { kinds } from '../content/kinds.ts'
import { loadItem, type LoadedItem } from '../content/find.ts'
import { toParentRef } from '../content/parent.ts'
import { requireWrite } from '../apps/members/access.ts'
import { reactionAdded, reactionRemoved, type ReactionFacts } from './events.ts'
import type { ReactionRow } from './schema.ts'
import { findReaction, removeReaction, saveReaction } from './store.ts'

interface Target {
  type: ContentEntity
  id: number
}

interface Loaded extends LoadedItem {
  /** The caller's reaction so far. */
  before: ReactionRow | null
}

async function load(db: Db, app: number, { type, id }: Target, by: Principal): Promise<Loaded> {
  const [loaded, before] = await Promise.all([loadItem(kinds[type], db, app, id), findReaction(db, id, by.user)])
  return { ...loaded, before }
}

/**
 * Reacts to an item with an emoji, which replaces the caller's earlier reaction; repeating changes nothing. Needs write
 * access; 404 for an item in the trash.
 */
export const addReaction = loadingCommand(
  'addReaction',
  load,
  (work, { type, content }: Target & { content: string }) => {
    const { item, before } = requireItem(work)
    if (before?.content === content) return
    const count = item.reaction_count
    if (before !== null) tell(work, reactionRemoved, { type, content: before.content, count: count - 1 })
    else work.write(kinds[type].store.changeCounts, { id: item.id, reactions: 1, comments: 0, made: 0, stars: 0 })
    const reaction = { item_id: item.id, user_id: work.by.user, app_id: item.app_id, content, created_at: work.now }
    work.write(saveReaction, { ...reaction, id: work.nextId() })
    tell(work, reactionAdded, { type, content, count: before === null ? count + 1 : count })
  },
)

/** Removes the caller's reaction, if there is one. Rights as for adding. */
export const takeReactionBack = loadingCommand('takeReactionBack', load, (work, { type }: Target) => {
  const { item, before } = requireItem(work)
  if (before === null) return
  work.write(kinds[type].store.changeCounts, { id: item.id, reactions: -1, comments: 0, made: 0, stars: 0 })
  work.write(removeReaction, { item_id: item.id, user_id: work.by.user })
  tell(work, reactionRemoved, { type, content: before.content, count: item.reaction_count - 1 })
})

function requireItem({ state, by, userCache, loaded }: Work<Loaded>): Loaded {
  requireWrite(state, by, userCache)
  if (loaded.item.trashed_at !== null) throw NotFound()
  return loaded
}

function tell(work: Work<Loaded>, kind: EventType<true>, told: Omit<ReactionFacts, 'parent'>): void {
  const { item } = work.loaded
  const facts: ReactionFacts = { ...told, parent: toParentRef(item) }
  work.emit(kind, { entity: item.id, body: true, facts })
}
