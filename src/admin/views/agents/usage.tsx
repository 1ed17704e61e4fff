import { sayCount, sayDuration } from '../../parts/amount.ts'
import { Card } from '../../parts/card.tsx'
import { choice, moment, Toolbar, useChosen } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import type { Usage } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { agentTabs } from './agent-tabs.ts'

const { usage } = texts

const by = (['day', 'agent', 'user', 'model'] as const).map(value => ({ value, title: usage.by[value] }))
const filters = [choice('by', usage.grouped, by), moment('since', texts.list.since), moment('until', texts.list.until)]

/** What agents were used for, and what that took. */
export function UsageView() {
  const asked = useChosen(filters)
  const resource = useResource<Usage[]>('/agent-usage', { query: asked })
  const group = asked.by as keyof typeof usage.by
  const columns: Column<Usage>[] = [
    { title: usage.by[group], isName: true, show: ({ key }) => <GroupName group={group} name={key} /> },
    { title: usage.runs, isFigure: true, show: ({ runs }) => sayCount(runs) },
    { title: usage.errors, isFigure: true, show: ({ errors }) => sayCount(errors) },
    { title: usage.input, isFigure: true, show: ({ input }) => sayCount(input) },
    { title: usage.cached, isFigure: true, show: ({ cached }) => sayCount(cached) },
    { title: usage.output, isFigure: true, show: ({ output }) => sayCount(output) },
    { title: usage.half, isFigure: true, show: ({ p50 }) => (p50 === undefined ? '–' : sayDuration(p50)) },
    { title: usage.most, isFigure: true, show: ({ p95 }) => (p95 === undefined ? '–' : sayDuration(p95)) },
  ]
  return (
    <>
      <Heading title={texts.agents.title} hint={usage.hint} />
      <Tabs label={texts.agents.title} tabs={agentTabs} current="/agents/usage" />
      <Card>
        <Toolbar filters={filters} />
        <Loaded of={resource}>
          {rows => (
            <Table
              label={usage.title}
              columns={columns}
              rows={rows}
              empty={usage.empty}
              keyOf={({ key }) => key}
              isStale={resource.isLoading}
            />
          )}
        </Loaded>
      </Card>
    </>
  )
}

function GroupName({ group, name }: { group: keyof typeof usage.by; name: string }) {
  if (group === 'agent') return <Link to={`/agents/${name}`}>#{name}</Link>
  return group === 'user' ? <Link to={`/users/${name}`}>#{name}</Link> : <>{name}</>
}
