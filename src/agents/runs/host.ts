import type { ConfiguredProvider, ModelRequest } from '../providers/provider.ts'
import type { Toolbox } from '../tools/tool.ts'
import type { Finish, ItemType, RunError, RunRow } from './run.ts'
import type { Lease } from './lease-store.ts'

/** What a run begins with, read anew by each node that continues it. */
export interface Briefing {
  /** The first request to the model. */
  request: Omit<ModelRequest, 'attempt'>
  providerId: string
  /** Undefined where the provider is not configured on this node. */
  provider: ConfiguredProvider | undefined
  toolbox: Toolbox
  /** Files of the passages that came with the question, by passage number. */
  passages: number[]
}

/** The item that a run posted. */
export interface Reply {
  type: ItemType
  id: number
}

/** The content of an answer. */
export interface Answer {
  state: 'done' | 'failed' | 'cancelled'
  /** Markdown; for an error reply null. */
  text: string | null
  error: RunError | null
  finish: Finish | null
  /** The cited files, in order. */
  files: number[]
  busyMs: number
}

/** A call that a user has to approve. */
export interface Question {
  /** The step number of the call. */
  step: number
  server: string
  tool: string
  arguments: Record<string, unknown>
  binding: Buffer
  /** The model's text before the call. */
  preamble: string
}

/** The decision on a call that needs approval. */
export interface Approval {
  step: number
  state: 'pending' | 'approved' | 'declined' | 'lapsed'
  binding: Buffer
  note: string | null
  /** Who decided, in words for the model. */
  decider: string | null
}

/** The apps in which agents answer, as runs need them. */
export interface RunHost {
  /**
   * Reads what a run begins with. Throws RunEnds where it must not be answered any more: its trigger, app, asker or
   * agent is gone or has no access.
   */
  brief(run: RunRow, signal: AbortSignal): Promise<Briefing>
  /** Throws RunEnds where a running run must stop. */
  check(run: RunRow): Promise<void>
  /**
   * Posts the answer or error reply of a run, and ends the run in the same commit: exactly once, whatever crashes.
   * Throws RunLost where this node has lost the run, RunEnds where the agent may not write any more.
   */
  post(run: RunRow, lease: Lease, answer: Answer): Promise<Reply>
  /** Posts the question for approval of a call, once per step. Throws as `post`. */
  ask(run: RunRow, lease: Lease, question: Question): Promise<void>
  /** The decisions on the questions of a run. */
  approvals(run: RunRow): Promise<Approval[]>
  /** Shows that the agent is typing. */
  type(run: Pick<RunRow, 'app_id' | 'agent_id'>): void
}

/** Observes runs; nothing depends on it. */
export interface RunWatcher {
  /** The run entered a state or calls a tool; `isRestarted`: the text so far is void. */
  onChange(run: RunRow, change: RunChange): void
  /** The run waits for its turn; repeated every few seconds. */
  onWaiting(run: RunRow): void
  /** A piece of the model's text. `isFirst` begins a step. */
  onText(run: RunRow, text: string, isFirst: boolean): void
  /** This node has stopped working on the run, for whatever reason. */
  onLeave(run: RunRow): void
}

export interface RunChange {
  state: RunRow['state']
  tool?: string
  isRestarted?: boolean
  reply?: Reply
  error?: RunError | null
}
