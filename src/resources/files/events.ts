import { z } from 'zod'
import { byId, event, type AppEvent, type PresentationContext } from '../../engine/event.ts'
import type { State } from '../../engine/state.ts'
import type { Db } from '../../postgres/sql.ts'
import { showAppRef } from '../apps/represent.ts'
import { EventRef, TrashedRef } from '../apps/schema.ts'
import { presentFile, showRaw } from './represent.ts'
import { EventFile, type FileRow } from './schema.ts'
import { findFiles } from './store.ts'

/** Changes of the counts of visible and trashed files: `visible` -1 in an update means that the file was trashed. */
export interface FileFacts extends Record<string, unknown> {
  visible: number
  trashed: number
  /** Set where the content has changed, not only the name or description. */
  hasNewContent?: boolean
  /** The number of comments at the event. */
  comments?: number
}

const presentWhole = (file: FileRow, context: PresentationContext) => ({
  file: { ...presentFile(file, context), ...showRaw(file) },
})

function showRef({ entity_id }: AppEvent<unknown>, { app, origin }: PresentationContext) {
  return { id: entity_id, app: showAppRef(app, origin) }
}

const shared = {
  isGuard: () => false,
  entity: 'file' as const,
  trigger: 'files',
  load: byId(async (db: Db, ids: number[]) => {
    const files = await findFiles(db, ids)
    return new Map([...files].filter(([, file]) => file.trashed_at === null))
  }),
  names: ({ body }: AppEvent<FileRow>) =>
    body === null ? [] : [body.created_by, ...(body.updated_by === null ? [] : [body.updated_by])],
  countAsOf(file: FileRow, { facts }: Pick<AppEvent, 'facts'>): FileRow {
    // A new file, whose event has no facts, has no comments yet.
    const { comments = file.comment_count } = (facts as FileFacts | null) ?? { comments: 0 }
    return { ...file, comment_count: comments }
  },
  present: ({ body }: AppEvent<FileRow>, context: PresentationContext) => body && presentWhole(body, context),
  schema: z.object({ file: EventFile }),
}

export const fileCreated = event<FileRow>({
  ...shared,
  type: 'file_created',
  isActivity: true,
  apply(state) {
    state.app.item_count++
    state.app.made_count++
  },
})

/** A file got a new name, content or description, or was trashed or restored. */
export const fileUpdated = event<FileRow>({
  ...shared,
  type: 'file_updated',
  isActivity: false,
  present(event, context) {
    if (event.body !== null) return presentWhole(event.body, context)
    const { visible } = event.facts as FileFacts
    return visible < 0 ? { file: { ...showRef(event, context), is_trashed: true } } : null
  },
  schema: z.object({ file: z.union([EventFile, TrashedRef]) }),
  hub: {
    names: ['file_trashed', 'file_restored'],
    nameOf({ facts }) {
      const { visible } = facts as FileFacts
      if (visible === 0) return 'file_updated'
      return visible < 0 ? 'file_trashed' : 'file_restored'
    },
  },
  apply: count,
})

export const fileDeleted = event<null>({
  type: 'file_deleted',
  isGuard: () => false,
  entity: 'file',
  trigger: 'files',
  isActivity: false,
  apply: count,
  present: (event, context) => ({ file: showRef(event, context) }),
  schema: z.object({ file: EventRef }),
})

function count(state: State, { facts }: Pick<AppEvent, 'facts'>): void {
  const { visible, trashed } = facts as FileFacts
  state.app.item_count += visible
  state.app.trashed_count += trashed
}

export const events = [fileCreated, fileUpdated, fileDeleted]
