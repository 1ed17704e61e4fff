import { sayCount, sayDuration } from '../../parts/amount.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { any, choice, exact, moment } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { AppLink, nameOf, UserLink } from '../../parts/names.tsx'
import type { Column } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import type { Run } from '../../server/shapes.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { agentTabs } from './agent-tabs.ts'

const { runs } = texts

const tones: Record<Run['state'], Tone> = {
  queued: 'warn',
  running: 'accent',
  waiting: 'warn',
  done: 'good',
  failed: 'bad',
  cancelled: 'plain',
  merged: 'plain',
  expired: 'bad',
}

const filters = [
  choice('state', runs.state, [
    { value: any, title: runs.anyState },
    ...Object.keys(tones).map(state => ({ value: state, title: runs.states[state as Run['state']] })),
  ]),
  exact('error', runs.error),
  moment('since', texts.list.since),
  moment('until', texts.list.until),
]

/** Runs of one agent need not say whose they are. */
const toColumns = (isOfAll: boolean): Column<Run>[] => [
  {
    title: runs.run,
    isName: true,
    show: ({ id, agent }) => (
      <>
        <Link to={`/agents/runs/${id}`}>#{id}</Link>
        {isOfAll && (
          <span class="block muted">
            <Link to={`/agents/${agent.id}`}>{nameOf(agent)}</Link>
          </span>
        )}
      </>
    ),
  },
  { title: runs.state, show: run => <RunState of={run} /> },
  { title: runs.asker, show: ({ asker }) => <UserLink user={asker} /> },
  { title: runs.app, show: ({ app }) => app && <AppLink app={app} /> },
  {
    title: runs.tokens,
    isFigure: true,
    show: ({ usage }) => (usage === undefined ? '–' : `${sayCount(usage.input)} / ${sayCount(usage.output)}`),
  },
  { title: runs.took, isFigure: true, show: run => durationOf(run) },
  { title: runs.created, show: ({ created_at }) => <Moment at={created_at} /> },
]

/** What all agents did. */
export function RunsView() {
  return (
    <>
      <Heading title={texts.agents.title} hint={runs.hint} />
      <Tabs label={texts.agents.title} tabs={agentTabs} current="/agents/runs" />
      <RunList />
    </>
  )
}

/** What agents did to answer, newest first: one agent, or all. */
export function RunList({ agent }: { agent?: string }) {
  const path = agent === undefined ? '/runs' : `/agents/${agent}/runs`
  const list = useList<Run>(path, filters, { isLive: true })
  return (
    <List of={list} label={runs.title} columns={toColumns(agent === undefined)} filters={filters} empty={runs.empty} />
  )
}

export function RunState({ of: { state, error } }: { of: Run }) {
  return (
    <span class="badges">
      <Badge tone={tones[state]}>{runs.states[state]}</Badge>
      {error !== undefined && <code class="small">{error}</code>}
    </span>
  )
}

/** From the question to the end. */
export function durationOf({ created_at, ended_at }: Run): string {
  return ended_at === undefined ? '–' : sayDuration(Date.parse(ended_at) - Date.parse(created_at))
}
