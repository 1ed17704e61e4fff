/** What endpoints need of what answers for agents. */
export interface AgentControl {
  /** There may be runs to begin. */
  wake(): void
  /** Something happened to these runs, on whichever node they are: they were cancelled. */
  review(runs: number[]): void
  /** Decisions about calls were stored: what follows from them is brought about. */
  settle(): Promise<void>
  /** Every provider there is. `host` is where it is reached, null for what works here. Never a key. */
  providers(): { id: string; is_configured: boolean; host: string | null }[]
}
