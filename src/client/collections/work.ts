import type { AgentDelta, AgentRun, AppSnapshot } from '../connection/frames.ts'
import { Drafts } from './drafts.ts'
import { WithoutHistory } from './without-history.ts'

/** An agent that is at work on an answer, and what it has written of it so far; empty where that is not known. */
export interface Work {
  readonly run: AgentRun
  readonly draft: string
}

const atWork = new Set<AgentRun['state']>(['queued', 'running', 'waiting'])

/** What agents are doing in an app, until their answer is an item. */
export class AgentWork extends WithoutHistory<Work> {
  readonly #drafts = new Drafts()

  run(run: AgentRun): void {
    const work = this.data()
    const known = work.find(one => one.run.id === run.id)
    const draft = run.restarted ? '' : (known?.draft ?? '')
    if (!atWork.has(run.state)) {
      this.#drafts.end(run.id)
      if (known !== undefined) this.set(work.filter(one => one !== known))
    } else if (known === undefined) this.set([...work, { run, draft }])
    else this.set(work.map(one => (one === known ? { run, draft } : one)))
  }

  delta(delta: AgentDelta): void {
    const draft = this.#drafts.add(delta)
    if (draft !== null) this.set(this.data().map(one => (one.run.id === delta.run_id ? { ...one, draft } : one)))
  }

  snapshot({ runs = [] }: AppSnapshot): void {
    this.clear()
    this.set(runs.map(run => ({ run, draft: '' })))
  }

  protected override start(): () => void {
    return this.feed.hold({ agents: true })
  }

  protected override clear(): void {
    this.#drafts.clear()
    super.clear()
  }
}
