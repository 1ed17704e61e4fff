import { Heading } from '../../parts/heading.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { texts } from '../../texts.ts'
import { agentTabs } from './agent-tabs.ts'
import { RunList } from './run-list.tsx'

/** What all agents did. */
export function RunsView() {
  return (
    <>
      <Heading title={texts.agents.title} hint={texts.runs.hint} />
      <Tabs label={texts.agents.title} tabs={agentTabs} current="/agents/runs" />
      <RunList />
    </>
  )
}
