import type { Apps } from '../../../engine/apps.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import { resumeRuns } from '../../../agents/runs/store.ts'
import { Problem } from '../../../lib/errors.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { commentCommands } from '../../comments/kind.ts'
import { kinds } from '../../content/kinds.ts'
import { withParts } from '../../items/parts.ts'
import { prepareChange } from '../../items/writing/prepare.ts'
import { messageCommands } from '../../messages/kind.ts'
import { toAuthor } from '../runs/reply.ts'
import { lapse, listUnshown, markShown, type ApprovalRow } from './store.ts'

/** Edited in one go. A guess. */
const atOnce = 50

interface ApprovalsOptions {
  sql: Sql
  apps: Apps
  userCache: UserCache
  now: () => Date
  /** There is something to go on with. */
  onResumed: () => void
  /** Somebody decided, or nobody did in time. */
  onDecided: (approval: ApprovalRow) => void
}

/**
 * Brings about what follows from decisions: the run goes on, and what asked says what was decided. Everything that it does
 * follows from what is stored, so it may be called at any time, by any node, and does what another one did not come to.
 */
export class Approvals {
  readonly #options: ApprovalsOptions
  #settling: Promise<void> | null = null
  #isAsked = false

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  /** Rejects where the database fails. */
  async settle(): Promise<void> {
    this.#isAsked = true
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = null
    })
    await this.#settling
  }

  async #settle(): Promise<void> {
    const { sql, onResumed } = this.#options
    while (this.#isAsked) {
      this.#isAsked = false
      await lapse(sql)
      // What is known already is not kept waiting by what is only shown.
      if ((await resumeRuns(sql)) > 0) onResumed()
      for (const approval of await listUnshown(sql, atOnce)) await this.#show(approval)
    }
  }

  /** Takes the poll away, and adds what was decided. */
  async #show(approval: ApprovalRow): Promise<void> {
    const { sql, apps, userCache, onDecided } = this.#options
    const { id, item_type, item_id, agent_id, app_id } = approval
    const row = await kinds[item_type].store.find(sql, item_id)
    const asked = row?.metadata?.tool_approval as { state?: string } | undefined
    if (row !== null && row.trashed_at === null && asked?.state === 'pending') {
      const [item] = await withParts(sql, [row])
      const text = `${item!.text ?? ''}\n\n${await this.#toLine(approval)}`
      const metadata = { ...row.metadata, tool_approval: { ...asked, state: approval.state } }
      const by = toAuthor(agent_id)
      const commands = item_type === 'message' ? messageCommands : commentCommands
      try {
        await userCache.load([agent_id])
        const change = await prepareChange(row, { text, metadata, options: [] }, { ...this.#options, by })
        await apps.run(commands.update, app_id, by, change)
      } catch (error) {
        // Nobody sees it any more, or the agent may not write: then there is nobody to tell.
        if (!(error instanceof Problem) || error.status >= 500) throw error
      }
    }
    if (await markShown(sql, id)) onDecided(approval)
  }

  async #toLine({ state, decided_by }: ApprovalRow): Promise<string> {
    if (state === 'lapsed') return 'Not decided in time.'
    const verb = state === 'approved' ? 'Approved' : 'Declined'
    if (decided_by === null) return `${verb}.`
    const person = await this.#options.userCache.get(decided_by)
    return `${verb} by ${person?.display_name ?? 'somebody'}.`
  }
}
