import type { Apps } from '../../../engine/apps.ts'
import type { Renderer } from '../../content/text/renderer.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import { server } from '../../../auth/principal.ts'
import type { AppState } from '../../../engine/state.ts'
import type { Typing } from '../../../engine/typing.ts'
import type { Providers } from '../../../agents/providers/provider.ts'
import type { Answer, Approval, Briefing, Question, Reply, RunHost } from '../../../agents/runs/host.ts'
import { RunEnds, RunLost, type ItemType, type RunError, type RunRow } from '../../../agents/runs/run.ts'
import type { Lease } from '../../../agents/runs/lease-store.ts'
import { findThread } from '../../../agents/runs/store.ts'
import type { OpenToolbox } from '../../../agents/tools/tool.ts'
import { pause, systemClock } from '../../../lib/clock.ts'
import { Problem } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { titleOf, namesakes } from '../../apps/naming.ts'
import { isChat } from '../../apps/kinds.ts'
import { kinds } from '../../content/kinds.ts'
import { requireParent } from '../../content/parent.ts'
import { withParts } from '../../items/load.ts'
import type { ContentItem } from '../../items/parts.ts'
import { prepareContent } from '../../items/writing/prepare.ts'
import { writeMention } from '../../content/text/mention-syntax.ts'
import { listMentions, mentionOnly, nameMentions } from '../../content/text/render.ts'
import { commentCommands } from '../../comments/kind.ts'
import { messageCommands } from '../../messages/kind.ts'
import { accessOf, canRead, isAtLeast } from '../../apps/members/access.ts'
import { approve, decline, postQuestion, toQuestionMetadata, toQuestionText } from '../approvals/question.ts'
import { drawApprovalId, listOfRun } from '../approvals/store.ts'
import { findAgent } from '../store.ts'
import { findPassages, noTools, toBriefing, toOpaqueId } from './prompts/briefing.ts'
import { readHistory } from './prompts/history.ts'
import { toItemText } from './prompts/item-text.ts'
import { placeOfReply, postReply, toAuthor, toReplyKey } from './reply.ts'
import { toLine, type Materials } from './prompts/turns.ts'

export interface HostSettings {
  /** Tokens of one request, estimated. */
  inputTokens: number
  /** One text for all errors; null: one for each. */
  errorText: string | null
  /** True where steps are kept after a run. */
  isTraced: boolean
}

export interface HostOptions {
  sql: Sql
  apps: Apps
  userCache: UserCache
  renderer: Renderer
  typing: Typing
  providers: Providers
  openToolbox: OpenToolbox
  /** Reads the attachments and other material of a question. */
  readMaterials: (
    run: RunRow,
    trigger: ContentItem,
    takesImages: boolean,
    signal: AbortSignal,
  ) => Promise<Omit<Materials, 'passages'>>
  /** The deployment's secret, from which opaque ids for providers are derived. */
  secret: string
  settings: HostSettings
  now: () => Date
  log: Log
}

/** The texts of error replies. */
const errorTexts: Record<Exclude<RunError, 'no_access'>, string> = {
  provider_not_configured: 'I cannot answer at the moment.',
  provider_error: 'I cannot answer at the moment.',
  timeout: 'I cannot answer at the moment.',
  interrupted: 'I cannot answer at the moment.',
  content_filtered: 'I cannot answer that.',
  rate_limited: 'I am being asked too much at once. Please ask again in a minute.',
  budget_exceeded: 'I have answered all that I may for today.',
  too_long: 'That is too long for me.',
}

/**
 * Conversations that the copilot of the UI kit begins. It subscribes to one only when its first message is sent, and does
 * not ask for what it has missed: an earlier reply would not be seen. So the first reply waits for a subscription, until
 * the app is so old; models take longer anyway. Nearby it takes half a second. Those on other nodes are not known here.
 */
const copilot = { uid: /^wy-copilot-/, waitMs: 3_000, lookMs: 50 }

/** Connects runs with apps: reads triggers, checks the agent's access, and posts replies. */
export class AppHost implements RunHost {
  readonly #options: HostOptions

  constructor(options: HostOptions) {
    this.#options = options
  }

  async brief(run: RunRow, signal: AbortSignal): Promise<Briefing> {
    const { sql, userCache, providers, openToolbox, settings, secret } = this.#options
    const agent = await findAgent(sql, String(run.agent_id))
    if (agent === null || agent.person.trashed_at !== null) throw new RunEnds('cancelled')
    await userCache.load([run.asker_id, run.agent_id])
    const state = await this.#requirePlace(run)
    const trigger = await this.#requireTrigger(run, state)
    const { id, uid, display_name: name } = userCache.show(run.asker_id)
    const provider = providers.find(agent.row.provider)
    const asked = {
      agent: { id: run.agent_id, uid: agent.person.uid },
      asker: { id, uid },
      app: { id: run.app_id, uid: state.app.uid },
    }
    const toolbox = provider?.takesTools ? await openToolbox(asked, signal) : noTools
    try {
      const bare = nameMentions(trigger.text ?? '').trim()
      const [passages, history, materials] = await Promise.all([
        provider?.takesTools ? findPassages(sql, run.agent_id, bare) : [],
        readHistory({ sql, run, trigger, hiddenUntil: hiddenUntil(state, run), signal }),
        this.#options.readMaterials(run, trigger, provider?.takesImages ?? false, signal),
      ])
      await userCache.load([...history.map(({ author }) => author), ...namesakes(state)])
      return toBriefing({
        agent,
        instructions: agent.row.instructions,
        provider,
        toolbox,
        asker: { id, name },
        question: { bare, text: toItemText(trigger), metadata: trigger.metadata },
        history,
        materials,
        passages,
        nameOf: user => this.#nameOf(user),
        place: placeOf(run, state),
        appTitle: titleOf(state, run.asker_id, userCache),
        now: run.began_at ?? this.#options.now(),
        inputTokens: settings.inputTokens,
        webSearch: agent.row.web_search,
        thread: await findThread(sql, run),
        person: toOpaqueId(secret, `user:${run.asker_id}`),
        conversation: toOpaqueId(secret, `conversation:${run.conversation}`),
      })
    } catch (error) {
      await toolbox.close()
      throw error
    }
  }

  async check(run: RunRow): Promise<void> {
    await this.#requirePlace(run)
  }

  async post(run: RunRow, lease: Lease, answer: Answer): Promise<Reply> {
    const { apps, userCache, settings } = this.#options
    const place = placeOfReply(run)
    const author = toAuthor(run.agent_id)
    await userCache.load([run.asker_id, run.agent_id])
    const text = this.#toText(run, answer)
    const metadata = {
      run: String(run.id),
      reply_to: { type: run.item_type, id: String(run.item_id) },
      ...(answer.finish && { finish: answer.finish }),
      ...(answer.error && { error: answer.error }),
    }
    const content = await prepareContent({ text, metadata }, run.app_id, { ...this.#options, by: author })
    await this.#awaitCopilot(run)
    const { state, error, finish, busyMs, files } = answer
    const end = { id: run.id, state, error, finish, busy_ms: state === 'cancelled' ? 0 : busyMs }
    const input = { place, content, lease, end, files, keepsSteps: settings.isTraced }
    try {
      // Trashed before the new reply: after a crash in between there is none, and the next node posts it.
      if (run.reply_type !== null && run.reply_id !== null) await this.#trashEarlier(run, run.reply_type, run.reply_id)
      const { id } = await apps.run(postReply, run.app_id, author, input, toReplyKey(run, 'answer'))
      return { type: place.type, id }
    } catch (error) {
      throw await this.#toEnd(run, error)
    }
  }

  async ask(run: RunRow, lease: Lease, question: Question): Promise<void> {
    const { sql, apps, userCache, now } = this.#options
    const place = placeOfReply(run)
    const author = toAuthor(run.agent_id)
    await userCache.load([run.asker_id, run.agent_id])
    const asker = userCache.show(run.asker_id)
    const id = await drawApprovalId(sql)
    const text = this.#address(run, mentionOnly(toQuestionText(question), asker))
    const metadata = toQuestionMetadata(id, run, question, now())
    const body = { text, metadata, options: [{ text: approve }, { text: decline }] }
    const content = await prepareContent(body, run.app_id, { ...this.#options, by: author })
    await this.#awaitCopilot(run)
    try {
      const key = toReplyKey(run, `approval:${question.step}`)
      await apps.run(postQuestion, run.app_id, author, { id, place, content, lease, question }, key)
    } catch (error) {
      throw await this.#toEnd(run, error)
    }
  }

  async approvals(run: RunRow): Promise<Approval[]> {
    const { sql, userCache } = this.#options
    const rows = await listOfRun(sql, run.id)
    await userCache.load(rows.flatMap(({ decided_by }) => decided_by ?? []))
    return rows.map(({ step, state, binding, note, decided_by }) => ({
      step,
      state,
      binding,
      note,
      decider: decided_by === null ? null : toLine(userCache.show(decided_by).display_name),
    }))
  }

  /** Trashes an earlier error reply, which is of no use after a retry. */
  async #trashEarlier({ id: run, app_id }: RunRow, type: ItemType, id: number): Promise<void> {
    const { apps, log } = this.#options
    const commands = type === 'message' ? messageCommands : commentCommands
    try {
      await apps.run(commands.trash, app_id, server, { id })
    } catch (error) {
      // Deleted, or hidden with its app. In any case, the answer stands.
      if (!(error instanceof Problem)) log.warn({ run, error }, 'An earlier error reply could not be trashed')
    }
  }

  type({ app_id, agent_id }: Pick<RunRow, 'app_id' | 'agent_id'>): void {
    this.#options.typing.start(app_id, agent_id)
  }

  async #awaitCopilot({ app_id }: RunRow): Promise<void> {
    const { apps, now } = this.#options
    const app = apps.peek(app_id)?.app
    if (app === undefined || !copilot.uid.test(app.uid ?? '')) return
    const ageMs = Math.max(0, now().getTime() - app.created_at.getTime())
    for (let leftMs = copilot.waitMs - ageMs; leftMs > 0 && !apps.follows(app_id); leftMs -= copilot.lookMs)
      await pause(systemClock, copilot.lookMs)
  }

  /** The app, where asker and agent still have the access that the run needs. */
  async #requirePlace(run: RunRow): Promise<AppState> {
    const { apps, userCache } = this.#options
    const state = await Promise.resolve(apps.state(run.app_id)).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 404) throw new RunEnds('cancelled')
      throw error
    })
    const [asker, agent] = [await userCache.get(run.asker_id), await userCache.get(run.agent_id)]
    const isHere = asker !== undefined && asker.trashed_at === null && canRead(state, run.asker_id, userCache)
    if (!isHere || agent === undefined || agent.trashed_at !== null) throw new RunEnds('cancelled')
    if (!isAtLeast(accessOf(state, run.agent_id, userCache), 'write')) throw new RunEnds('failed', 'no_access')
    return state
  }

  /** The current trigger; not one that is in the trash, itself or with its parent. */
  async #requireTrigger(run: RunRow, { app }: AppState): Promise<ContentItem> {
    const { sql } = this.#options
    const kind = kinds[run.item_type]
    const row = await kind.store.find(sql, run.item_id)
    if (row === null || row.trashed_at !== null) throw new RunEnds('cancelled')
    // An edit has taken the mention back. In a conversation of two no mention is needed.
    const isPartner = app.type === 'agent_chat' || app.type === 'private_chat'
    if (!isPartner && !listMentions(row.html).includes(run.agent_id)) throw new RunEnds('cancelled')
    try {
      await requireParent(kind.parents, row, sql)
    } catch (error) {
      if (error instanceof Problem) throw new RunEnds('cancelled')
      throw error
    }
    const [item] = await withParts(sql, [row])
    return item!
  }

  #nameOf(user: number): string {
    const person = this.#options.userCache.show(user)
    return person.is_agent ? `${person.display_name} (agent)` : person.display_name
  }

  /** Comments begin with a mention of the asker. Mentions by the model are not resolved. */
  #toText(run: RunRow, { text, error }: Answer): string {
    const { userCache, settings } = this.#options
    const asker = userCache.show(run.asker_id)
    const own =
      text === null ? (settings.errorText ?? errorTexts[error as keyof typeof errorTexts]) : mentionOnly(text, asker)
    return this.#address(run, own)
  }

  #address(run: RunRow, text: string): string {
    return run.item_type === 'comment' ? `${toMention(this.#options.userCache.show(run.asker_id))} ${text}` : text
  }

  /** The meaning of a refused reply. */
  async #toEnd(run: RunRow, error: unknown): Promise<unknown> {
    if (error instanceof RunLost || !(error instanceof Problem) || error.status >= 500) return error
    try {
      await this.#requirePlace(run)
    } catch (end) {
      return end
    }
    // The app exists and is writable, so the parent is gone.
    return new RunEnds('cancelled', null, false, error)
  }
}

function placeOf(run: RunRow, { app }: AppState): 'chat' | 'feed' | 'comments' {
  if (isChat(app.type)) return 'chat'
  return run.item_type === 'post' || run.parent_type === 'post' ? 'feed' : 'comments'
}

/** The position up to which either of the two has removed the chat. */
function hiddenUntil(state: AppState, { agent_id, asker_id }: RunRow): number {
  return Math.max(...[agent_id, asker_id].map(user => state.member(user)?.hidden_id ?? 0))
}

export function toMention({ id, display_name }: { id: number; display_name: string }): string {
  return writeMention({ id, label: toLine(display_name) || `u${id}` })
}
