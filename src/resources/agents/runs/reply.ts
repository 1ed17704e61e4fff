import { createHash } from 'node:crypto'
import type { IdempotencyKey } from '../../../api/idempotency-key.ts'
import { loadingCommand, type Work } from '../../../engine/command.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { RunRow } from '../../../agents/runs/run.ts'
import { emptySteps } from '../../../agents/runs/steps.ts'
import { lockRun, type Lease } from '../../../agents/runs/lease-store.ts'
import { endRuns, lockKept, queueEndDeliveries, type RunEnd } from '../../../agents/runs/store.ts'
import type { Db } from '../../../postgres/sql.ts'
import { insertAnnotations } from '../../annotations/store.ts'
import { comment } from '../../comments/kind.ts'
import { makeItem, numbersForItem } from '../../items/writing/make.ts'
import { requireParent, type Parent, type ParentType } from '../../content/parent.ts'
import { noParts, type ContentItem } from '../../items/parts.ts'
import type { PreparedContent } from '../../items/writing/prepare.ts'
import type { FileRow } from '../../files/schema.ts'
import { findFiles } from '../../files/store.ts'
import { requireWrite } from '../../apps/members/access.ts'
import { message } from '../../messages/kind.ts'

/** The place of a reply: beside its trigger, or as a comment on the trigger or its parent. */
export type Place = { type: 'message' } | { type: 'comment'; parent: { type: ParentType; id: number } | null }

export function placeOfReply({ item_type, item_id, parent_type, parent_id }: RunRow): Place {
  if (item_type === 'message') return { type: 'message' }
  if (item_type === 'post') return { type: 'comment', parent: { type: 'post', id: item_id } }
  const isAbout = parent_type !== null && parent_id !== null
  return { type: 'comment', parent: isAbout ? { type: parent_type, id: parent_id } : null }
}

/** The agent as the author of its replies. */
export function toAuthor(agent: number): Principal {
  return { kind: 'user', user: agent, credential: '' }
}

/** The idempotency key of a run's reply, so that it is created once. The text may differ between attempts. */
export function toReplyKey({ id, retries }: RunRow, reply: string): IdempotencyKey {
  const digest = createHash('sha256').update(`agent-run:${id}:${retries}:${reply}`).digest()
  return { key: digest, request: digest }
}

/** The content of a reply, and the end of its run. */
interface NewReply {
  place: Place
  content: PreparedContent
  lease: Lease
  end: Omit<RunEnd, 'reply_type' | 'reply_id' | 'ended_at'>
  /** Ids of files, in the order of citation. */
  files: number[]
  keepsSteps: boolean
}

/**
 * Posts the reply of a run and ends the run in one commit; the run is locked, so that it is not cancelled or continued
 * meanwhile. Throws RunLost where the lease is lost; refuses like a user's post.
 */
export const postReply = loadingCommand(
  'post_agent_reply',
  async (db, app, { place, lease, end, files }: NewReply) => {
    await (end.state === 'cancelled' ? lockKept(db, lease) : lockRun(db, lease))
    return { parent: await findParent(db, app, place), cited: await listCited(db, files) }
  },
  (work, { place, content, end, files, keepsSteps }): { id: number } => {
    const { parent, cited } = work.loaded
    const item = makeReply(work, place, content, parent)
    if (cited.length > 0) item.parts = { ...(item.parts ?? noParts), annotations: cited }
    const ended = { ...end, reply_type: place.type, reply_id: item.id, ended_at: work.now }
    work.write(endRuns, ended)
    work.write(queueEndDeliveries, ended)
    if (!keepsSteps) work.write(emptySteps, { run_id: end.id })
    for (const [at, file_id] of files.entries()) {
      work.write(insertAnnotations, { item_type: place.type, item_id: item.id, place: at, file_id })
    }
    return { id: item.id }
  },
  { maxIds: ({ content }) => numbersForItem(content) },
)

type FoundParent = (Parent & { type: ParentType }) | null

/** The parent of a comment. 404 where it is in the trash or deleted. */
export async function findParent(db: Db, app: number, place: Place): Promise<FoundParent> {
  if (place.type === 'message' || place.parent === null) return null
  const { type, id } = place.parent
  const parent = await requireParent(comment.parents, { parent_type: type, parent_id: id }, db)
  return parent === null || parent.app_id !== app ? null : { ...parent, type }
}

/** Adds the item as anybody who may write there could. */
export function makeReply(
  work: Work<unknown>,
  place: Place,
  content: PreparedContent,
  parent: FoundParent,
): ContentItem {
  requireWrite(work.state, work.by, work.userCache)
  return makeItem(work, place.type === 'message' ? message : comment, content, parent)
}

/** The existing files, in the order of citation. */
async function listCited(db: Db, ids: readonly number[]): Promise<FileRow[]> {
  if (ids.length === 0) return []
  const files = await findFiles(db, ids)
  return ids.flatMap(id => files.get(id) ?? []).filter(({ trashed_at }) => trashed_at === null)
}
