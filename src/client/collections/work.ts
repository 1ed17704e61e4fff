import type { EventContent } from '../connection/event-members.ts'
import type { AgentDelta, AgentRun, AppSnapshot, RealtimeEvent } from '../connection/frames.ts'
import type { Feed } from '../store/feed.ts'
import { Drafts } from './drafts.ts'
import { WithoutHistory } from './without-history.ts'

/** An agent that is at work on an answer, and what it has written of it so far; empty where that is not known. */
export interface Work {
  readonly run: AgentRun
  readonly draft: string
}

const atWork = new Set<AgentRun['state']>(['queued', 'running', 'waiting'])

/** Frames of an agent at work are repeated every 5 seconds. */
const endsAfterMs = 15_000

/** What agents are doing in an app, until their answer is an item. */
export class AgentWork extends WithoutHistory<Work> {
  readonly #drafts = new Drafts()

  constructor(feed: Feed) {
    super(feed, endsAfterMs)
  }

  run(run: AgentRun): void {
    if (atWork.has(run.state)) {
      this.put(run.id, { run, draft: run.restarted ? '' : (this.row(run.id)?.draft ?? '') })
      return
    }
    this.#end(run.id)
  }

  /** The frame that ends a run may be lost; its answer never is. */
  event(event: RealtimeEvent): void {
    const item = 'message' in event ? event.message : 'comment' in event ? event.comment : undefined
    const run = (item as EventContent | undefined)?.metadata?.run
    if (event.event.endsWith('_created') && run !== undefined) this.#end(Number(run))
  }

  delta(delta: AgentDelta): void {
    const draft = this.#drafts.add(delta)
    const known = this.row(delta.run_id)
    if (draft !== null && known !== undefined) this.put(delta.run_id, { ...known, draft })
  }

  snapshot({ runs = [] }: AppSnapshot): void {
    this.clear()
    for (const run of runs) this.run(run)
  }

  protected override start(): () => void {
    return this.feed.hold({ agents: true })
  }

  protected override clear(): void {
    this.#drafts.clear()
    super.clear()
  }

  #end(run: number): void {
    this.#drafts.end(run)
    this.remove(run)
  }
}
