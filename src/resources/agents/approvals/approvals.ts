import type { Apps } from '../../../engine/apps.ts'
import type { Renderer } from '../../content/text/renderer.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import { resumeRuns } from '../../../agents/runs/store.ts'
import { Problem } from '../../../lib/errors.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { commentCommands } from '../../comments/kind.ts'
import { kinds } from '../../content/kinds.ts'
import { withParts } from '../../items/load.ts'
import { prepareChange } from '../../items/writing/prepare.ts'
import { messageCommands } from '../../messages/kind.ts'
import { toAuthor } from '../runs/reply.ts'
import { lapse, listUnshown, markShown, type ApprovalRow } from './store.ts'

/** Approvals per run of `settle`. A guess. */
const atOnce = 50

interface ApprovalsOptions {
  sql: Sql
  apps: Apps
  userCache: UserCache
  renderer: Renderer
  now: () => Date
  /** Called when runs can continue. */
  onResumed: () => void
  /** Called when an approval was decided or has expired. */
  onDecided: (approval: ApprovalRow) => void
}

/**
 * Carries out decisions: runs continue, and questions show the decision. Works from stored rows only, so any node may
 * call it at any time, and completes what another node left.
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
      // Runs first: showing the decision can wait.
      if ((await resumeRuns(sql)) > 0) onResumed()
      for (const approval of await listUnshown(sql, atOnce)) await this.#show(approval)
    }
  }

  /** Removes the poll and adds the decision. */
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
        // The question is not visible any more, or the agent may not write: there is no one to tell.
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
    return `${verb} by ${person?.display_name ?? 'a deleted user'}.`
  }
}
