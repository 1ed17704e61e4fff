import type { Write } from '../../../engine/command.ts'
import type { SameCommitProjection } from '../../../engine/commit/flush/decide.ts'
import type { AppEvent } from '../../../engine/event.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import type { ItemType } from '../../../agents/runs/run.ts'
import { cancelRunsOfApps, cancelRunsOfItems, insertRuns, type NewRun } from '../../../agents/runs/store.ts'
import type { Batch } from '../../../postgres/batch.ts'
import type { OptionRow } from '../../options/schema.ts'
import { isChat } from '../../apps/kinds.ts'
import type { Consequences } from '../../items/events.ts'
import type { ContentItem } from '../../items/parts.ts'
import type { MentionFacts } from '../../content/text/mentions.ts'
import { listMentions } from '../../content/text/render.ts'
import { accessOf, isAtLeast } from '../../apps/members/access.ts'
import { approve, decline } from '../approvals/question.ts'
import { cancelRunsThatAsk, decideByItem, decideByVote, declineOfItems } from '../approvals/store.ts'
import type { KnownAgents } from './known-agents.ts'

type State = Parameters<SameCommitProjection>[1]

const nothing: Write[] = []

interface TriggersOptions {
  agents: KnownAgents
  userCache: UserCache
}

/**
 * Finds items that agents have to answer, in the commit that writes them: adds a run for each agent to that commit, so
 * that no question is lost or answered twice. Uses only data in memory; other items cost a look at their type.
 */
export class Triggers {
  readonly #agents: KnownAgents
  readonly #userCache: UserCache
  /** Apps whose runs were written since the last `take`. */
  readonly #touched = new Set<number>()

  constructor({ agents, userCache }: TriggersOptions) {
    this.#agents = agents
    this.#userCache = userCache
  }

  /** True where commits to this app may have written or ended runs since the last call. */
  take(app: number): boolean {
    return this.#touched.size > 0 && this.#touched.delete(app)
  }

  /** The rows that a commit writes for one of its events; see SameCommitProjection. */
  readonly toWrites = (event: AppEvent, state: State): Write[] => {
    if (this.#agents.isEmpty) return nothing
    switch (event.type) {
      case 'message_created':
      case 'post_created':
      case 'comment_created':
        return this.#toRuns(event, state, false)
      case 'message_updated':
      case 'post_updated':
      case 'comment_updated':
        return isHidden(event) ? this.#cancel(event) : this.#toRuns(event, state, true)
      case 'message_deleted':
      case 'post_deleted':
      case 'comment_deleted':
        return this.#cancel(event)
      case 'vote_added':
        return this.#toVote(event)
      case 'app_trashed':
      case 'app_deleted':
        this.#touched.add(event.app_id)
        return [toWrite(cancelRunsOfApps, { app_id: event.app_id, at: event.created_at })]
      default:
        return nothing
    }
  }

  #toRuns(event: AppEvent, state: State, isEdit: boolean): Write[] {
    // The body of created and updated events of content.
    const item = event.body as ContentItem
    const asker = item.created_by
    if (asker <= 0 || this.#agents.isAgent(asker)) return nothing
    if (isDecision(item)) return isEdit ? nothing : this.#toWord(event, item)
    const agents = this.#concerned(item, event, state, isEdit)
    if (agents.length === 0) return nothing
    this.#touched.add(event.app_id)
    return agents.map(agent => toWrite(insertRuns, toRun(agent, event, item, state)))
  }

  #concerned(item: ContentItem, event: AppEvent, state: State, isEdit: boolean): number[] {
    const { type } = state.app
    const isPartner = type === 'agent_chat' || type === 'private_chat'
    if (isPartner && isEdit) return []
    const candidates = isPartner ? partners(state, item.created_by) : mentioned(item, event, isEdit)
    return candidates.filter(
      user => this.#agents.isActive(user) && isAtLeast(accessOf(state, user, this.#userCache), 'write'),
    )
  }

  /** A vote in what may be an agent's question: the poll's item is not in memory. */
  #toVote({ app_id, actor_id, body, created_at: at }: AppEvent): Write[] {
    if (actor_id <= 0 || this.#agents.isAgent(actor_id)) return nothing
    const { item_type, item_id, text } = body as OptionRow
    if (text !== approve && text !== decline) return nothing
    this.#touched.add(app_id)
    return [toWrite(decideByVote, { item_type, item_id, user_id: actor_id, is_approved: text === approve, at })]
  }

  /** An item with a decision in its metadata. Has no effect unless it names an open question of its author. */
  #toWord({ app_id, created_at: at }: AppEvent, { created_by, metadata }: ContentItem): Write[] {
    const { id, approved } = metadata!.tool_approval as { id?: unknown; approved?: unknown }
    if (typeof approved !== 'boolean' || !/^\d{1,15}$/.test(String(id))) return nothing
    this.#touched.add(app_id)
    return [toWrite(decideByItem, { id: Number(id), app_id, user_id: created_by, is_approved: approved, at })]
  }

  #cancel({ kind, app_id, entity_id, created_at: at }: AppEvent): Write[] {
    this.#touched.add(app_id)
    const gone = { item_type: kind.entity as ItemType, item_id: entity_id, at }
    return [toWrite(cancelRunsOfItems, gone), toWrite(cancelRunsThatAsk, gone), toWrite(declineOfItems, gone)]
  }
}

function toWrite<Row extends object>(batch: Batch<Row>, row: Row): Write {
  return { batch: batch as unknown as Batch<object>, row }
}

function isHidden({ body }: AppEvent): boolean {
  return body === null || (body as ContentItem).trashed_at !== null
}

function partners(state: State, author: number): number[] {
  const others: number[] = []
  for (const { user_id } of state.members()) if (user_id !== author) others.push(user_id)
  return others
}

/** The mentioned users; of an edit, only new ones. Nearly all texts mention no one, and have no HTML of their own. */
function mentioned({ html }: ContentItem, { facts }: AppEvent, isEdit: boolean): readonly number[] {
  if (!isEdit) return html === null ? [] : listMentions(html)
  return (facts as MentionFacts | null)?.mentioned ?? []
}

/** A decision about a tool call triggers no run. */
export function isDecision({ metadata }: Pick<ContentItem, 'metadata'>): boolean {
  return typeof metadata?.tool_approval === 'object' && metadata.tool_approval !== null
}

function toRun(
  agent_id: number,
  { app_id, kind, facts, created_at }: AppEvent,
  item: ContentItem,
  state: State,
): NewRun {
  const parent = (facts as Partial<Consequences> | null)?.parent ?? null
  const place = placeOf(kind.entity as ItemType, item, state)
  return {
    agent_id,
    app_id,
    item_type: kind.entity as ItemType,
    item_id: item.id,
    parent_type: item.parent_type ?? parent?.type ?? null,
    parent_id: item.parent_id ?? parent?.id ?? null,
    asker_id: item.created_by,
    conversation: `${agent_id}:${place}`,
    created_at,
  }
}

/** The conversation: runs in one, of one agent, wait for each other. */
function placeOf(type: ItemType, { id, parent_type, parent_id, created_by }: ContentItem, { app }: State): string {
  if (app.type === 'agent_chat' || app.type === 'private_chat') return String(app.id)
  if (isChat(app.type)) return `${app.id}:${created_by}`
  if (type === 'post') return `post:${id}:${created_by}`
  return parent_id === null ? `${app.id}:${created_by}` : `${parent_type}:${parent_id}:${created_by}`
}
