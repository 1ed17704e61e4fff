/** A question for testing an agent. */
export interface TestQuestion {
  agent: number
  text: string
  /** The user who asks, for the model. */
  asker: number
  /** The earlier conversation, oldest first. */
  history: readonly { role: 'user' | 'agent'; text: string }[]
  /** Overrides the agent's instructions; null: the agent's. */
  instructions: string | null
  /**
   * `none`: no tools are offered. `dry`: they are offered, and not called. `real`: they are called without approval.
   */
  tools: 'none' | 'dry' | 'real'
}

/** A tool call, made or not. */
export interface TestStep {
  kind: string
  name: string
  arguments: unknown
  /** Null where it was not made. */
  result: string | null
  outcome: 'ok' | 'error' | 'unknown' | 'skipped'
}

/** Observes a test's answer. */
export interface TestWatcher {
  onText(text: string): void
  /** The provider is asked again: the text of its last answer is void. */
  onRestart(): void
  onStep(step: TestStep): void
}

export interface TestAnswer {
  text: string
  finish: string | null
  error: string | null
  /** The provider's own error, for administrators only. */
  detail: string | null
  usage: { input: number; output: number; cached: number }
  /** Milliseconds. */
  duration: number
  steps: TestStep[]
  /** The system prompt. */
  system: string
}
