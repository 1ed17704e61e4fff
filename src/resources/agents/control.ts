import type { Providers } from '../../agents/providers/provider.ts'
import type { TestAnswer, TestQuestion, TestWatcher } from './test-chat/test-answer.ts'

/** What endpoints do with runs. */
export interface AgentControl {
  /** Looks for runs to begin. */
  wake(): void
  /** Ends an open run, on any node. `keepsText`: the text so far is posted. */
  cancel(id: number, keepsText: boolean): Promise<void>
  /** Carries out stored decisions about calls. */
  settle(): Promise<void>
  /** Answers a question like the agent, outside of any app, and writes nothing. See `testAgent`. */
  test(question: TestQuestion, watcher: TestWatcher, signal: AbortSignal): Promise<TestAnswer>
  providers(): ReturnType<Providers['list']>
}
