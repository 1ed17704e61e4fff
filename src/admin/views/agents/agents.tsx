import { AskButton } from '../../parts/buttons.tsx'
import { Badge } from '../../parts/badge.tsx'
import { search, trash } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOf } from '../../parts/names.tsx'
import type { Column } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import type { Agent } from '../../server/shapes.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { agentTabs } from './agent-tabs.ts'
import { CreateAgent } from './create-agent.tsx'

const { agents } = texts
const filters = [search(), trash]

const columns: Column<Agent>[] = [
  { title: agents.name, isName: true, show: agent => <Link to={`/agents/${agent.id}`}>{nameOf(agent)}</Link> },
  { title: agents.uid, show: ({ uid }) => uid && <code>{uid}</code> },
  { title: agents.provider, show: ({ provider }) => <Badge>{provider}</Badge> },
  { title: agents.model, show: ({ model }) => <code>{model}</code> },
  { title: agents.created, show: ({ created_at }) => <Moment at={created_at} /> },
]

/** Agents: members that answer by themselves. */
export function AgentsView() {
  const list = useList<Agent>('/agents', filters)
  return (
    <>
      <Heading
        title={agents.title}
        hint={agents.hint}
        actions={
          <AskButton isPrimary icon="plus" ask={<CreateAgent onDone={list.reload} />}>
            {agents.create}
          </AskButton>
        }
      />
      <Tabs label={agents.title} tabs={agentTabs} current="/agents" />
      <List of={list} label={agents.title} columns={columns} filters={filters} empty={agents.empty} />
    </>
  )
}
