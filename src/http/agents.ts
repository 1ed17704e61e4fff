/** What endpoints need of what answers for agents. */
export interface AgentControl {
  /** There may be runs to begin. */
  wake(): void
  /** Ends a run, on whichever node it is, unless it has ended. `keepsText`: what was written so far is posted. */
  cancel(run: number, keepsText: boolean): Promise<void>
  /** Decisions about calls were stored: what follows from them is brought about. */
  settle(): Promise<void>
  /**
   * Answers a question as an agent would, outside of any app, and writes nothing. Takes at most as long as a run; ends
   * when the signal aborts. Rejects with NotFound where there is no such agent.
   */
  test(question: TestQuestion, watcher: TestWatcher, signal: AbortSignal): Promise<TestAnswer>
  /** Every provider there is. `host` is where it is reached, null for what works here. Never a key. */
  providers(): { id: string; is_configured: boolean; host: string | null }[]
}

/** A question to try an agent with. */
export interface TestQuestion {
  agent: number
  text: string
  /** Who is said to ask. */
  asker: number
  /** What was said before, oldest first. */
  history: readonly { role: 'user' | 'agent'; text: string }[]
  /** Instead of the agent's; null: the agent's. */
  instructions: string | null
  /** `none`: none are offered. `dry`: they are offered, and not called. `real`: they are called, without asking anybody. */
  tools: 'none' | 'dry' | 'real'
}

/** A call of a tool, made or not. */
export interface TestStep {
  kind: string
  name: string
  arguments: unknown
  /** Null where it was not called. */
  result: string | null
  outcome: 'ok' | 'error' | 'unknown' | 'skipped'
}

/** Told of an answer to a test while it is made. */
export interface TestWatcher {
  onText(text: string): void
  /** The provider is asked again: the text of its last answer does not count. */
  onRestart(): void
  onStep(step: TestStep): void
}

export interface TestAnswer {
  text: string
  finish: string | null
  error: string | null
  /** What the provider said of it, for owners alone. */
  detail: string | null
  usage: { input: number; output: number; cached: number }
  /** Milliseconds. */
  duration: number
  steps: TestStep[]
  /** What the model was told of who it is. */
  system: string
}
