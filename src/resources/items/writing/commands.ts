import { isDeepStrictEqual } from 'node:util'
import { command, loadingCommand, type Work } from '../../../engine/command.ts'
import { auditByKey } from '../../../audit/audit.ts'
import { Forbidden, NotFound } from '../../../lib/errors.ts'
import type { Db } from '../../../postgres/sql.ts'
import { isChat } from '../../apps/kinds.ts'
import { WrongKind } from '../../apps/schema.ts'
import { withMessage, type Newest } from '../../apps/own/unread.ts'
import { changeTotal, insertDeletedParent } from '../../content/commented.ts'
import { isAtLeast, requireRead, requireWrite } from '../../apps/members/access.ts'
import { countMove, dropBlocks } from '../../content/lists/positions/blocks.ts'
import { removeContextOf } from './context-store.ts'
import { changeItem, numbersForChange } from './change.ts'
import { countsOf, type Consequences } from '../events.ts'
import type { ItemKind } from '../kinds.ts'
import { loadItem } from '../../content/find.ts'
import { makeItem, newestForRemoved, numbersForItem } from './make.ts'
import { compareMentions } from '../../content/text/mentions.ts'
import { findNewest } from './newest.ts'
import { toParentRef, type Parent } from '../../content/parent.ts'
import { withParts } from '../load.ts'
import { removeParts, type ContentItem } from '../parts.ts'
import { removeStarsOf } from '../../stars/store.ts'
import type { ContentChange, PreparedContent } from './prepare.ts'
import { requireMeant, type Removal } from '../../content/removal/trash.ts'

interface Loaded {
  item: ContentItem
  parent: Parent | null
  /** The newest messages of the app without this one; null where they do not change, or there are none. */
  newest: Newest | null
}

export type ContentCommands = ReturnType<typeof contentCommands>

/** The commands of one kind of content. */
export function contentCommands(kind: ItemKind) {
  const { entity, store, events } = kind
  const load = async (db: Db, app: number, { id }: { id: number }): Promise<Loaded> => {
    const { item, parent } = await loadItem(kind, db, app, id)
    const [[whole], newest] = await Promise.all([
      withParts(db, [item]),
      entity === 'message' ? findNewest(db, app, id) : null,
    ])
    return { item: whole!, parent, newest }
  }

  return {
    /**
     * Adds an item to an app. Refuses with 400 in apps of other types, 403 or 404 where the caller may not write, 422
     * where the item is empty.
     */
    create: command(
      `create_${entity}`,
      (work: Work, content: PreparedContent) => {
        requireWrite(work.state, work.by, work.userCache)
        if (!kind.fits(work.app.type)) throw WrongKind({ type: work.app.type })
        return makeItem(work, kind, content, null)
      },
      { maxIds: numbersForItem, commutes: true },
    ),

    /**
     * Edits an item: by its author, while they have write access, or with an API key. An update without a change writes
     * nothing. 404 for trashed items.
     */
    update: loadingCommand(
      `update_${entity}`,
      load,
      (work, change: ContentChange) => {
        const { item } = work.loaded
        const { by } = work
        requireRead(work.state, by, work.userCache)
        if (item.trashed_at !== null) throw NotFound()
        requireWrite(work.state, by, work.userCache)
        if (by.kind !== 'key' && item.created_by !== by.user) throw Forbidden()
        const updated = changeItem(work, kind, item, change)
        if (isSame(item, updated)) return item
        note(work, kind, 'updated')
        work.write(store.update, updated)
        const facts = { ...toFacts(work, 0, 0), counts: countsOf(updated), ...compareMentions(item.html, updated.html) }
        work.emit(events.updated, { entity: item.id, body: updated, facts })
        return updated
      },
      { maxIds: numbersForChange },
    ),

    /**
     * Moves an item to the trash: by its author, while they have write access, or by admins; repeating changes nothing.
     */
    trash: loadingCommand(`trash_${entity}`, load, work => {
      const { item, newest } = work.loaded
      requireOwn(work, item)
      if (item.trashed_at !== null) return
      note(work, kind, 'trashed')
      move(work, kind, work.now, newest)
    }),

    restore: loadingCommand(`restore_${entity}`, load, work => {
      const { item } = work.loaded
      requireOwn(work, item)
      if (item.trashed_at === null) return
      note(work, kind, 'restored')
      const { last_id, last_by, prior_id } = withMessage(work.app, item.id, item.created_by)
      move(work, kind, null, isChat(work.app.type) ? { last_id, last_by, prior_id } : null)
    }),

    /** Deletes an item for good, trashed or not: by its author, while they have write access, or by admins. */
    remove: loadingCommand(`delete_${entity}`, load, (work, removal: Removal) => {
      const { item, newest } = work.loaded
      requireOwn(work, item)
      requireMeant(item, removal)
      note(work, kind, 'deleted')
      const [visible, trashed] = item.trashed_at === null ? [-1, 0] : [0, -1]
      work.write(store.remove, { id: item.id })
      removeParts(work, entity, item)
      work.write(removeContextOf, { item_type: entity, item_id: item.id })
      if (item.star_count > 0) work.write(removeStarsOf, { id: item.id })
      // There may be any number of comments: they are invisible from now on, and removed in the background.
      if (kind.isCommented) {
        work.write(insertDeletedParent, { parent_id: item.id })
        dropBlocks(work, item)
      }
      count(work, kind, { visible, trashed, deleted: 1 })
      const facts = toFacts(work, visible, trashed, newest)
      work.emit(events.deleted, { entity: item.id, body: null, facts })
    }),
  }
}

/** Records an API key's action on a user's item, by id and not by text. */
function note(work: Work<Loaded>, { entity }: ItemKind, what: 'updated' | 'trashed' | 'restored' | 'deleted'): void {
  const { id, app_id, created_by } = work.loaded.item
  auditByKey(work, {
    action: `${entity}_${what}`,
    target: { type: entity, id },
    after: { app: app_id, author: created_by },
  })
}

/** True where only the time of the edit and its editor differ. */
function isSame(item: ContentItem, edited: ContentItem): boolean {
  const { updated_at, updated_by } = item
  return isDeepStrictEqual(item, { ...edited, updated_at, updated_by })
}

/** Moves an item into or out of the trash. */
function move(work: Work<Loaded>, kind: ItemKind, trashed_at: Date | null, newest: Newest | null): void {
  const item: ContentItem = { ...work.loaded.item, trashed_at }
  const [visible, trashed] = trashed_at === null ? [1, -1] : [-1, 1]
  work.write(kind.store.update, item)
  count(work, kind, { visible, trashed, deleted: 0 })
  const facts = { ...toFacts(work, visible, trashed, newest), counts: countsOf(item) }
  work.emit(kind.events.updated, { entity: item.id, body: item, facts })
}

/** Updates the counts that an item is part of: of its block, of its parent, and of all comments in the app. */
function count(
  work: Work<Loaded>,
  { parents, isCommented }: ItemKind,
  { visible, trashed, deleted }: { visible: number; trashed: number; deleted: number },
): void {
  const { app_id, parent_type, parent_id, comment_count } = work.loaded.item
  countMove(work, work.loaded.item, { trashed, deleted })
  // Comments are hidden and shown with their parent.
  const comments = visible * (isCommented ? comment_count : parent_id === null ? 0 : 1)
  if (comments !== 0) work.write(changeTotal, { app_id, comments })
  if (parent_type === null || parent_id === null || visible === 0) return
  work.write(parents[parent_type]!.changeCounts, { id: parent_id, reactions: 0, comments: visible, made: 0, stars: 0 })
}

function toFacts(
  work: Work<Loaded>,
  visible: number,
  trashed: number,
  newest: Newest | null = null,
): Consequences & Record<string, unknown> {
  const { item, parent } = work.loaded
  const before = newest === null ? undefined : newestForRemoved(work)
  const ref = toParentRef(item)
  return {
    visible,
    trashed,
    ...(newest && { newest }),
    ...(before !== undefined && { before }),
    ...(ref && parent && { parent: ref, comments: parent.comment_count + visible }),
  }
}

function requireOwn(work: Work<Loaded>, item: ContentItem): void {
  const level = requireRead(work.state, work.by, work.userCache)
  if (level === 'admin') return
  const isMine = item.created_by === work.by.user
  // Trashed items are visible to users who may restore them.
  if (item.trashed_at !== null && !isMine) throw NotFound()
  if (!isMine || !isAtLeast(level, 'write')) throw Forbidden()
}
