import { ActButton, AskButton } from '../../parts/buttons.tsx'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { TextField } from '../../parts/field.tsx'
import { choice } from '../../parts/filters.tsx'
import { FormDialog, type DialogProps, type Values } from '../../parts/form.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOf } from '../../parts/names.tsx'
import { actions, type Column } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useServer } from '../../server/server.ts'
import type { Approval } from '../../server/shapes.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { agentTabs } from './agent-tabs.ts'

const { approvals } = texts

const tones: Record<Approval['state'], Tone> = { pending: 'warn', approved: 'good', declined: 'bad', lapsed: 'plain' }
const states = Object.keys(tones) as Approval['state'][]
const filters = [
  choice(
    'state',
    approvals.state,
    states.map(value => ({ value, title: approvals.states[value] })),
  ),
]

/** Calls of tools that agents wait to be allowed. */
export function ApprovalsView() {
  const server = useServer()
  const list = useList<Approval>('/approvals', filters, { isLive: true })
  const approve = async (id: number) => {
    await server.post(`/approvals/${id}`, { approved: true })
    list.reload()
    return approvals.approvedNotice
  }
  const columns: Column<Approval>[] = [
    {
      title: approvals.tool,
      isName: true,
      show: ({ server: name, tool }) => (
        <code>
          {name}.{tool}
        </code>
      ),
    },
    { title: approvals.agent, show: ({ agent }) => <Link to={`/agents/${agent.id}`}>{nameOf(agent)}</Link> },
    {
      title: approvals.arguments,
      show: ({ arguments: given }) => <pre tabIndex={0}>{JSON.stringify(given, null, 2)}</pre>,
    },
    { title: approvals.state, show: ({ state }) => <Badge tone={tones[state]}>{approvals.states[state]}</Badge> },
    { title: approvals.asked, show: ({ created_at }) => <Moment at={created_at} /> },
    { title: approvals.expires, show: ({ expires_at }) => <Moment at={expires_at} /> },
    actions(
      ({ id, state }) =>
        state === 'pending' && (
          <>
            <ActButton isSmall isPrimary act={() => approve(id)}>
              {approvals.approve}
            </ActButton>
            <AskButton isSmall ask={<Decline id={id} onDone={list.reload} />}>
              {approvals.decline}
            </AskButton>
          </>
        ),
    ),
  ]
  return (
    <>
      <Heading title={texts.agents.title} hint={approvals.hint} />
      <Tabs label={texts.agents.title} tabs={agentTabs} current="/agents/approvals" />
      <List of={list} label={approvals.title} columns={columns} filters={filters} empty={approvals.empty} />
    </>
  )
}

function Decline({ id, onDone }: DialogProps & { id: number }) {
  const server = useServer()
  const decline = async (values: Values) => {
    await server.post(`/approvals/${id}`, { approved: false, note: values.textOrNull('note') })
    onDone()
    return approvals.declinedNotice
  }
  return (
    <FormDialog title={approvals.decline} submit={approvals.decline} isDangerous onSubmit={decline}>
      <TextField name="note" label={approvals.note} hint={approvals.noteHint} />
    </FormDialog>
  )
}
