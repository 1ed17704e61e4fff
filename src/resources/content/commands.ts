import { command, loadingCommand, type Command, type Work } from '../../actors/command.ts'
import { Forbidden, NotFound } from '../../lib/errors.ts'
import type { Db } from '../../storage/sql.ts'
import { WrongKind } from '../apps/schema.ts'
import { isChat } from '../apps/kinds.ts'
import { withMessage } from '../apps/unread.ts'
import { isAtLeast, requireRead, requireWrite } from '../members/access.ts'
import { changeBlock, insertBlock } from './blocks.ts'
import type { Newest } from './events.ts'
import type { ContentKind } from './kind.ts'
import { settleText } from './mentions.ts'
import { findNewest } from './newest.ts'
import { blockSize } from './position.ts'
import type { ParsedText } from './render.ts'
import { IsEmpty, type ContentRow } from './schema.ts'

/** Content whose text was parsed at the edge. */
export interface PreparedContent {
  text: ParsedText | null
  metadata: Record<string, unknown> | null
  tags: string[]
}

export interface ContentChange {
  id: number
  /** Absent: unchanged; null: no text. */
  text?: ParsedText | null
  metadata?: Record<string, unknown> | null
  tags?: string[]
}

interface Loaded {
  item: ContentRow
  /** The newest messages of the app without this one; null where the app holds no messages. */
  newest: Newest | null
}

export interface ContentCommands {
  create: Command<PreparedContent, ContentRow>
  update: Command<ContentChange, ContentRow, Loaded>
  trash: Command<{ id: number }, void, Loaded>
  restore: Command<{ id: number }, void, Loaded>
  remove: Command<{ id: number }, void, Loaded>
}

/** What can be done with one kind of content. */
export function contentCommands(kind: ContentKind): ContentCommands {
  const { entity, store, events } = kind
  const load = async (db: Db, app: number, { id }: { id: number }): Promise<Loaded> => {
    const item = await store.find(db, id)
    if (item === null || item.app_id !== app) throw NotFound()
    return { item, newest: entity === 'message' ? await findNewest(db, app, id) : null }
  }

  return {
    /**
     * Adds an item to an app. Refuses with 400 where the app holds something else, 403 or 404 where the caller may
     * not write, 422 where there is nothing in it.
     */
    create: command(`create_${entity}`, (work: Work, content) => {
      const { app, by } = work
      requireWrite(work.state, by, work.people)
      if (!kind.fits(app.type)) throw WrongKind({ type: app.type })
      const rendered = settleText(content.text, work)
      if (rendered.text === null) throw IsEmpty()
      const item = { ...blank(work), id: work.nextId(), ...rendered, metadata: content.metadata, tags: content.tags }
      work.write(store.insert, item)
      if (app.made_count % blockSize === 0) work.write(insertBlock, { app_id: app.id, first_id: item.id })
      work.emit(events.created, { entity: item.id, body: item })
      return item
    }),

    /** Edits an item. Only its author may, while they may write; an API key may always. Trashed items are 404. */
    update: loadingCommand(`update_${entity}`, load, (work, change: ContentChange) => {
      const { item } = work.loaded
      const { by } = work
      requireRead(work.state, by, work.people)
      if (item.trashed_at !== null) throw NotFound()
      requireWrite(work.state, by, work.people)
      if (by.kind !== 'key' && item.created_by !== by.user) throw Forbidden()
      const { text, html, plain } = change.text === undefined ? item : settleText(change.text, work)
      if (text === null) throw IsEmpty()
      const updated: ContentRow = {
        ...item,
        ...{ text, html, plain },
        metadata: change.metadata === undefined ? item.metadata : change.metadata,
        tags: change.tags ?? item.tags,
        updated_at: work.now,
        updated_by: by.user,
      }
      work.write(store.update, updated)
      work.emit(events.updated, {
        entity: item.id,
        body: updated,
        facts: { visible: 0, trashed: 0, ...parentOf(item) },
      })
      return updated
    }),

    /** Hides an item. For its author while they may write, and for admins; repeating changes nothing. */
    trash: loadingCommand(`trash_${entity}`, load, work => {
      const { item, newest } = work.loaded
      requireOwn(work, item)
      if (item.trashed_at !== null) return
      move(work, kind, { ...item, trashed_at: work.now }, { visible: -1, trashed: 1, ...(newest && { newest }) })
    }),

    restore: loadingCommand(`restore_${entity}`, load, work => {
      const { item } = work.loaded
      requireOwn(work, item)
      if (item.trashed_at === null) return
      const { last_id, last_by, prior_id } = withMessage(work.app, item.id, item.created_by)
      const newest = isChat(work.app.type) ? { newest: { last_id, last_by, prior_id } } : {}
      move(work, kind, { ...item, trashed_at: null }, { visible: 1, trashed: -1, ...newest })
    }),

    /** Deletes an item for good, trashed or not. For its author while they may write, and for admins. */
    remove: loadingCommand(`delete_${entity}`, load, work => {
      const { item, newest } = work.loaded
      requireOwn(work, item)
      const [visible, trashed] = item.trashed_at === null ? [-1, 0] : [0, -1]
      work.write(store.remove, { id: item.id })
      if (item.parent_id === null) {
        work.write(changeBlock, { app_id: item.app_id, id: item.id, trashed, deleted: 1 })
      }
      const facts = { visible, trashed, ...(newest && { newest }), ...parentOf(item) }
      work.emit(events.deleted, { entity: item.id, body: null, facts })
    }),
  }
}

function blank({ app, by, now }: Work): Omit<ContentRow, 'id' | 'text' | 'html' | 'plain' | 'metadata' | 'tags'> {
  return {
    app_id: app.id,
    parent_type: null,
    parent_id: null,
    embed_id: null,
    meeting_id: null,
    attachment_count: 0,
    option_count: 0,
    reaction_count: 0,
    comment_count: 0,
    star_count: 0,
    created_at: now,
    created_by: by.user,
    updated_at: null,
    updated_by: null,
    trashed_at: null,
  }
}

interface Moved {
  visible: number
  trashed: number
  newest?: Newest
}

/** Into the trash, or out of it. */
function move(work: Work<Loaded>, { store, events }: ContentKind, item: ContentRow, facts: Moved): void {
  work.write(store.update, item)
  if (item.parent_id === null) {
    work.write(changeBlock, { app_id: item.app_id, id: item.id, trashed: facts.trashed, deleted: 0 })
  }
  work.emit(events.updated, { entity: item.id, body: item, facts: { ...facts, ...parentOf(item) } })
}

function parentOf({ parent_type, parent_id }: ContentRow) {
  return parent_id === null ? {} : { parent: { type: parent_type, id: parent_id } }
}

function requireOwn(work: Work<Loaded>, item: ContentRow): void {
  const level = requireRead(work.state, work.by, work.people)
  if (level === 'admin') return
  const isMine = item.created_by === work.by.user
  // What is in the trash is visible to those alone who may restore it.
  if (item.trashed_at !== null && !isMine) throw NotFound()
  if (!isMine || !isAtLeast(level, 'write')) throw Forbidden()
}
