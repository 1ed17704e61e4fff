import type { AppEvent } from '../../../engine/event.ts'
import type { EventRow } from '../../../log/events.ts'
import { kinds } from '../../content/kinds.ts'
import type { ContentEntity } from '../../content/kind.ts'
import type { ContentRow } from '../../content/schema.ts'
import type { MentionFacts } from '../../content/text/mentions.ts'
import { listMentions } from '../../content/text/render.ts'
import type { FileRow } from '../../files/schema.ts'
import { findFiles } from '../../files/store.ts'
import { ofCreated, ofUpdated } from './content.ts'
import { RecipientBatch } from './recipient-batch.ts'
import { ofFile } from './files.ts'
import type { NotificationWriter } from './notification-writer.ts'
import { ofReaction, ofVote, retractVotes, type RollUp } from './rollups.ts'
import type { NotificationContext } from './context.ts'
import { removeDetached, removeLinked, removeMentions } from './store.ts'

/** The events that notify users or undo that; of new messages, only those with mentions. */
export const projectedEvents: readonly string[] = [
  ...['message', 'post', 'comment'].flatMap(entity => [`${entity}_created`, `${entity}_updated`, `${entity}_deleted`]),
  'file_created',
  'file_updated',
  'file_deleted',
  'reaction_added',
  'reaction_removed',
  'vote_added',
  'vote_removed',
  'app_deleted',
]

/**
 * Processes one batch of an app's events within a transaction. New notifications are gathered over apps; changes of
 * notifications run after these were written.
 */
export class NotificationProjection {
  readonly #context: NotificationContext
  readonly #items = new Map<number, ContentRow>()
  readonly #files = new Map<number, FileRow>()
  readonly #writer: NotificationWriter

  constructor(context: NotificationContext, writer: NotificationWriter) {
    this.#context = context
    this.#writer = writer
  }

  /** Loads the current items of all events: a deleted item notifies no one. */
  async load(rows: EventRow[]): Promise<void> {
    const { tx } = this.#context
    for (const { entity, store } of Object.values(kinds)) {
      const ids = listWritten(rows, entity)
      if (ids.length > 0) for (const [id, item] of await store.findMany(tx, ids)) this.#items.set(id, item)
    }
    const ids = listWritten(rows, 'file')
    if (ids.length > 0) for (const [id, file] of await findFiles(tx, ids)) this.#files.set(id, file)
  }

  /**
   * Processes an event of which all users up to `notifiedTo` have been notified. Returns the last notified user, to
   * continue from in the next transaction; null when all are done.
   */
  async apply(event: AppEvent, notifiedTo: number): Promise<number | null> {
    const { type } = event
    const context = this.#context
    const batch = new RecipientBatch(notifiedTo)
    if (type.startsWith('reaction_')) await this.#rollUp(event, () => ofReaction(event, context))
    else if (type.startsWith('vote_')) await this.#rollUp(event, () => ofVote(event, context))
    else if (type.endsWith('_deleted')) await this.#remove(event)
    else await this.#notify(event, batch)
    return batch.last
  }

  async #notify(event: AppEvent, batch: RecipientBatch): Promise<void> {
    const { type, entity_id } = event
    const file = this.#files.get(entity_id)
    if (file !== undefined) return this.#writer.push(...(await ofFile(event, file, this.#context, batch)))
    if (type.endsWith('_updated')) await removeDetached(this.#context.tx, entity_id)
    const { unmentioned } = (event.facts as MentionFacts | null) ?? {}
    const item = this.#items.get(entity_id)
    if (item === undefined || !isContent(event)) return
    // Writes what earlier events have gathered, so that this one finds it.
    if (type.endsWith('_updated')) await this.#rollUp(event, () => retractVotes(item, event, this.#context))
    if (unmentioned) await removeMentions(this.#context.tx, item.id, unmentioned, listMentions(item.html))
    const make = type.endsWith('_created') ? ofCreated : ofUpdated
    this.#writer.push(...(await make(event, item, this.#context, batch)))
  }

  async #remove({ type, entity_id }: AppEvent): Promise<void> {
    if (type === 'app_deleted') return
    await this.#writer.write()
    await removeLinked(this.#context.tx, entity_id)
  }

  async #rollUp({ actor_id }: AppEvent, decide: () => Promise<RollUp>): Promise<void> {
    await this.#writer.write()
    const { draft, updated = [] } = await decide()
    if (draft !== undefined) this.#writer.push(draft)
    for (const id of updated) await this.#writer.update(id, actor_id)
  }
}

/** The ids of the entities of one type that events have created or updated. */
function listWritten(rows: EventRow[], entity: string): number[] {
  const written = rows.filter(({ type }) => type === `${entity}_created` || type === `${entity}_updated`)
  return written.map(({ entity_id }) => entity_id)
}

function isContent({ kind }: AppEvent): boolean {
  return (kind.entity as ContentEntity) in kinds
}
