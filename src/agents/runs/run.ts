export type RunState = 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'merged' | 'expired'

export type ItemType = 'message' | 'post' | 'comment'

/** Why a run failed, as people and programs are told: see docs/agents.md. */
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

/** Why an answer is not what the model would have written to its end. */
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
  due_at: Date
  attempts: number
  retries: number
  keeps_text: boolean
  leased_by: string | null
  leased_until: Date | null
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

/** The run is another node's, or nobody's: whatever this node does for it is to stop, and nothing more is written. */
export class RunLost extends Error {}

/** The run comes to an end without an answer: quietly, or where `isTold` with an error reply. */
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
