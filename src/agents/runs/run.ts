export const runStates = ['queued', 'running', 'waiting', 'done', 'failed', 'cancelled', 'merged', 'expired'] as const
export type RunState = (typeof runStates)[number]

export type ItemType = 'message' | 'post' | 'comment'

/** The public reason why a run failed: see docs/agents.md. */
export type RunError =
  | 'provider_not_configured'
  | 'provider_error'
  | 'timeout'
  | 'interrupted'
  | 'content_filtered'
  | 'rate_limited'
  | 'budget_exceeded'
  | 'too_long'
  | 'no_access'

/** Why an answer is incomplete. */
export type Finish = 'length' | 'cancelled'

/** A row of `agent_runs`: one agent's work on one item, its trigger. */
export interface RunRow {
  id: number
  agent_id: number
  app_id: number
  item_type: ItemType
  item_id: number
  parent_type: 'post' | 'file' | null
  parent_id: number | null
  asker_id: number
  conversation: string
  state: RunState
  attempts: number
  retries: number
  keeps_text: boolean
  provider: string | null
  model: string | null
  error: RunError | null
  finish: Finish | null
  reply_type: ItemType | null
  reply_id: number | null
  tokens_in: number
  tokens_out: number
  tokens_cached: number
  rounds: number
  calls: number
  created_at: Date
  began_at: Date | null
  first_text_at: Date | null
  ended_at: Date | null
  busy_ms: number
}

/** The run belongs to another node or to none: all work on it must stop, and nothing more be written. */
export class RunLost extends Error {}

/** The run ends without an answer: silently, or with an error reply where `isTold`. */
export class RunEnds extends Error {
  readonly state: 'failed' | 'cancelled'
  readonly error: RunError | null
  readonly isTold: boolean

  constructor(state: 'failed' | 'cancelled', error: RunError | null = null, isTold = false, cause?: unknown) {
    super(`The run ends as ${state}${error === null ? '' : ` (${error})`}`, { cause })
    this.state = state
    this.error = error
    this.isTold = isTold
  }
}
