import { texts } from '../../texts.ts'

/** The views about all agents. */
export const agentTabs = [
  { to: '/agents', title: texts.agents.title },
  { to: '/agents/runs', title: texts.runs.title },
  { to: '/agents/approvals', title: texts.approvals.title },
  { to: '/agents/usage', title: texts.usage.title },
]
