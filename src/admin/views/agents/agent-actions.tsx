import { TrashActions } from '../../parts/trash-actions.tsx'
import type { Agent } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

/** What can be done with an agent. */
export function AgentActions({ of: agent, onDone }: { of: Agent; onDone: () => void }) {
  return <TrashActions of={agent} list="/agents" texts={texts.agents} onDone={onDone} />
}
