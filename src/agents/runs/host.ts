import type { ConfiguredProvider, Turn } from '../providers/provider.ts'
import type { Toolbox } from '../tools/tool.ts'
import type { Finish, ItemType, RunError, RunRow } from './run.ts'
import type { Lease } from './store.ts'

/** All that a run begins with, read anew by each node that goes on with it. */
export interface Briefing {
  agentName: string
  providerId: string
  /** Undefined where the provider is not configured on this node. */
  provider: ConfiguredProvider | undefined
  model: string
  maxTokens: number | null
  webSearch: boolean
  system: string
  turns: Turn[]
  /** The trigger's text alone. */
  question: string
  /** What a provider that keeps conversations itself calls this one. */
  thread: string | null
  toolbox: Toolbox
  /** Files of the passages that the question came with, in the order of their numbers. */
  passages: number[]
  /** Opaque ids for providers. */
  person: string
  conversation: string
}

/** Where something was posted. */
export interface Reply {
  type: ItemType
  id: number
}

/** What an answer is made of. */
export interface Answer {
  state: 'done' | 'failed' | 'cancelled'
  /** Markdown; for an error reply null. */
  text: string | null
  error: RunError | null
  finish: Finish | null
  /** Files that it cites, in that order. */
  files: number[]
  busyMs: number
}

/** A call that a person has to approve. */
export interface Question {
  /** The step that the call is going to be. */
  step: number
  server: string
  tool: string
  arguments: Record<string, unknown>
  binding: Buffer
  /** What the model wrote before it. */
  preamble: string
}

/** What became of a call that needs approval. */
export interface Approval {
  id: number
  step: number
  state: 'pending' | 'approved' | 'declined' | 'lapsed'
  arguments: Record<string, unknown>
  binding: Buffer
  note: string | null
  /** Who decided, for the model. */
  decider: string | null
}

/** What runs need of the apps that agents answer in. */
export interface RunHost {
  /**
   * Reads what a run begins with, at the time that it begins. Throws RunEnds where it is not to be answered any more:
   * its trigger, its app, its asker or its agent is gone, or may not be here.
   */
  brief(run: RunRow, signal: AbortSignal): Promise<Briefing>
  /** Throws RunEnds where the run must not go on, though it has begun. */
  check(run: RunRow): Promise<void>
  /**
   * Posts the answer or error reply of a run, and ends the run by the same commit: once, whatever is killed. Throws
   * RunLost where this node does not have the run any more, RunEnds where the agent may not write any more.
   */
  post(run: RunRow, lease: Lease, answer: Answer): Promise<Reply>
  /** Posts the question whether a call may be made, once for each step. Throws as `post`. */
  ask(run: RunRow, lease: Lease, question: Question): Promise<void>
  /** What has become of the questions of a run. */
  approvals(run: RunRow): Promise<Approval[]>
  /** Says that the agent is at work on an answer. */
  type(run: Pick<RunRow, 'app_id' | 'agent_id'>): void
}

/** Told of what a run does while it is under way: nothing depends on it. */
export interface RunWatcher {
  /** A state was entered, or a tool is being called; `isRestarted`: what was written so far does not count. */
  onChange(run: RunRow, change: RunChange): void
  /** The run waits for its turn, said again every few seconds. */
  onWaiting(run: RunRow): void
  /** Text of the model, as it comes. `isFirst` begins a step. */
  onText(run: RunRow, text: string, isFirst: boolean): void
  /** This node works on the run no more, however that came. */
  onLeave(run: RunRow): void
}

export interface RunChange {
  state: RunRow['state']
  tool?: string
  isRestarted?: boolean
  reply?: Reply
  error?: RunError | null
}
