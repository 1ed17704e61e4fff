import { Badge } from '../../parts/badge.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { nameOf } from '../../parts/names.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { TrashActions } from '../../parts/trash-actions.tsx'
import type { Agent } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { texts } from '../../texts.ts'
import { AgentSettings } from './agent-settings.tsx'
import { AgentFunctions } from './functions.tsx'
import { RunList } from './runs.tsx'
import { ToolServers } from './tool-servers.tsx'
import { TestChat } from './test-chat.tsx'

const { agents } = texts
const back = { to: '/agents', title: agents.title }

/** One agent: what it is told, what it may use, and what it did. */
export function AgentView({ id = '', part = '' }: { id?: string; part?: string }) {
  const agent = useResource<Agent>(`/agents/${id}`, { query: { trashed: 'null' } })
  const tabs = [
    { to: `/agents/${id}`, title: agents.settings },
    { to: `/agents/${id}/functions`, title: agents.functions },
    { to: `/agents/${id}/servers`, title: agents.servers },
    { to: `/agents/${id}/test`, title: agents.test },
    { to: `/agents/${id}/runs`, title: texts.runs.title },
  ]
  return (
    <Loaded of={agent} heading={{ title: agents.one, back }}>
      {of => (
        <>
          <Heading
            title={nameOf(of)}
            back={back}
            hint={
              <span class="badges">
                <Badge>{of.provider}</Badge>
                <Badge>{of.model}</Badge>
                {of.is_trashed && <Badge tone="bad">{texts.users.trashed}</Badge>}
              </span>
            }
            actions={<TrashActions of={of} list="/agents" texts={agents} onDone={agent.reload} />}
          />
          <Tabs label={agents.parts} tabs={tabs} current={part === '' ? `/agents/${id}` : `/agents/${id}/${part}`} />
          {part === '' && <AgentSettings of={of} onDone={agent.reload} />}
          {part === 'functions' && <AgentFunctions id={id} />}
          {part === 'servers' && <ToolServers id={id} />}
          {part === 'test' && <TestChat id={id} />}
          {part === 'runs' && <RunList agent={id} />}
        </>
      )}
    </Loaded>
  )
}
