import { command, loadingCommand, type Work } from '../../actors/command.ts'
import { Forbidden, NotFound } from '../../lib/errors.ts'
import type { Db } from '../../storage/sql.ts'
import { WrongKind } from '../apps/schema.ts'
import { isChat } from '../apps/kinds.ts'
import { withMessage } from '../apps/unread.ts'
import { blockSize } from '../content/position.ts'
import { changeBlock, insertBlock } from '../content/blocks.ts'
import type { ParsedText } from '../content/render.ts'
import { settleText } from '../content/mentions.ts'
import { IsEmpty, type ContentRow } from '../content/schema.ts'
import { isAtLeast, requireRead, requireWrite } from '../members/access.ts'
import { messageCreated, messageDeleted, messageUpdated } from './events.ts'
import { findMessage, findNewest, insertMessages, removeMessages, updateMessages } from './store.ts'

/** Content whose text was parsed at the edge. */
export interface PreparedContent {
  text: ParsedText | null
  metadata: Record<string, unknown> | null
  tags: string[]
}

/**
 * Sends a message to a chat app. Refuses with 400 where the app is no chat, 403 or 404 where the caller may not
 * write, 422 where there is nothing in it.
 */
export const createMessage = command('createMessage', (work: Work, content: PreparedContent): ContentRow => {
  const { app, by } = work
  requireWrite(work.state, by, work.people)
  if (!isChat(app.type)) throw WrongKind({ type: app.type })
  const rendered = settleText(content.text, work)
  if (rendered.text === null) throw IsEmpty()

  const id = work.nextId()
  const message: ContentRow = {
    id,
    app_id: app.id,
    ...rendered,
    metadata: content.metadata,
    tags: content.tags,
    embed_id: null,
    meeting_id: null,
    created_at: work.now,
    created_by: by.user,
    updated_at: null,
    updated_by: null,
    trashed_at: null,
  }
  work.write(insertMessages, message)
  if (app.made_count % blockSize === 0) work.write(insertBlock, { app_id: app.id, first_id: id })
  work.emit(messageCreated, { entity: id, body: message })
  return message
})

export interface MessageChange {
  id: number
  /** Absent: unchanged; null: no text. */
  text?: ParsedText | null
  metadata?: Record<string, unknown> | null
  tags?: string[]
}

interface Loaded {
  message: ContentRow
  newest: { last_id: number | null; last_by: number | null; prior_id: number | null }
}

async function load(db: Db, app: number, { id }: { id: number }): Promise<Loaded> {
  const message = await findMessage(db, id)
  if (message === null || message.app_id !== app) throw NotFound()
  return { message, newest: await findNewest(db, app, id) }
}

/** Edits a message. Only its author may, while they may write; an API key may always. Trashed messages are 404. */
export const updateMessage = loadingCommand(
  'updateMessage',
  (db, app, input: MessageChange) => load(db, app, input),
  (work, change) => {
    const { message } = work.loaded
    const { by } = work
    requireRead(work.state, by, work.people)
    if (message.trashed_at !== null) throw NotFound()
    requireWrite(work.state, by, work.people)
    if (by.kind !== 'key' && message.created_by !== by.user) throw Forbidden()
    const rendered = change.text === undefined ? pickText(message) : settleText(change.text, work)
    if (rendered.text === null) throw IsEmpty()

    const updated: ContentRow = {
      ...message,
      ...rendered,
      metadata: change.metadata === undefined ? message.metadata : change.metadata,
      tags: change.tags ?? message.tags,
      updated_at: work.now,
      updated_by: by.user,
    }
    work.write(updateMessages, updated)
    work.emit(messageUpdated, { entity: message.id, body: updated, facts: { visible: 0 } })
    return updated
  },
)

/** Hides a message. For its author while they may write, and for admins; repeating changes nothing. */
export const trashMessage = loadingCommand(
  'trashMessage',
  (db, app, input: { id: number }) => load(db, app, input),
  work => {
    const { message, newest } = work.loaded
    requireOwn(work, message)
    if (message.trashed_at !== null) return
    const trashed = { ...message, trashed_at: work.now }
    work.write(updateMessages, trashed)
    work.write(changeBlock, { app_id: message.app_id, id: message.id, trashed: 1, deleted: 0 })
    work.emit(messageUpdated, { entity: message.id, body: trashed, facts: { visible: -1, newest } })
  },
)

export const restoreMessage = loadingCommand(
  'restoreMessage',
  (db, app, input: { id: number }) => load(db, app, input),
  work => {
    const { message } = work.loaded
    requireOwn(work, message)
    if (message.trashed_at === null) return
    const restored = { ...message, trashed_at: null }
    const { last_id, last_by, prior_id } = withMessage(work.app, message.id, message.created_by)
    work.write(updateMessages, restored)
    work.write(changeBlock, { app_id: message.app_id, id: message.id, trashed: -1, deleted: 0 })
    work.emit(messageUpdated, {
      entity: message.id,
      body: restored,
      facts: { visible: 1, newest: { last_id, last_by, prior_id } },
    })
  },
)

/** Deletes a message for good, trashed or not. For its author while they may write, and for admins. */
export const deleteMessage = loadingCommand(
  'deleteMessage',
  (db, app, input: { id: number }) => load(db, app, input),
  work => {
    const { message, newest } = work.loaded
    requireOwn(work, message)
    const wasTrashed = message.trashed_at !== null
    work.write(removeMessages, { id: message.id })
    work.write(changeBlock, { app_id: message.app_id, id: message.id, trashed: wasTrashed ? -1 : 0, deleted: 1 })
    work.emit(messageDeleted, { entity: message.id, body: null, facts: { wasTrashed, newest } })
  },
)

function pickText({ text, html, plain }: ContentRow) {
  return { text, html, plain }
}

function requireOwn(work: Work<Loaded>, message: ContentRow): void {
  const level = requireRead(work.state, work.by, work.people)
  if (level === 'admin') return
  const isMine = message.created_by === work.by.user
  // A trashed message is visible to those alone who may restore it.
  if (message.trashed_at !== null && !isMine) throw NotFound()
  if (!isMine || !isAtLeast(level, 'write')) throw Forbidden()
}

