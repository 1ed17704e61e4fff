import { ActButton } from '../../parts/buttons.tsx'
import { sayCount, sayDuration } from '../../parts/amount.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { AppLink, nameOf, UserLink } from '../../parts/names.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import type { RunDetails } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { Link } from '../../place.tsx'
import { texts } from '../../texts.ts'
import { durationOf, RunState } from './runs.tsx'

const { runs } = texts
const back = { to: '/agents/runs', title: runs.title }

type Step = NonNullable<RunDetails['steps']>[number]

const columns: Column<Step>[] = [
  { title: runs.step, isName: true, show: ({ n, kind, name }) => `${n}. ${name ?? kind}` },
  {
    title: runs.outcome,
    show: ({ outcome }) => outcome && <Badge tone={outcome === 'ok' ? 'good' : 'warn'}>{outcome}</Badge>,
  },
  { title: runs.took, isFigure: true, show: ({ duration }) => (duration === undefined ? '–' : sayDuration(duration)) },
  { title: runs.created, show: ({ began_at }) => <Moment at={began_at} /> },
]

/** One run: what it took, step by step. */
export function RunView({ id = '' }: { id?: string }) {
  const server = useServer()
  const run = useResource<RunDetails>(`/runs/${id}`, { isLive: true })
  const act = async (verb: 'cancel' | 'retry') => {
    await server.post(`/runs/${id}/${verb}`)
    run.reload()
    return verb === 'cancel' ? runs.cancelledNotice : runs.retriedNotice
  }
  return (
    <Loaded of={run} heading={{ title: runs.one, back }}>
      {of => (
        <>
          <Heading
            title={`${runs.run} #${of.id}`}
            back={back}
            hint={<RunState of={of} />}
            actions={
              <>
                {isOpen(of) && <ActButton act={() => act('cancel')}>{runs.cancel}</ActButton>}
                {isRetried(of) && <ActButton act={() => act('retry')}>{runs.retry}</ActButton>}
              </>
            }
          />
          <Card>
            <Facts
              facts={[
                [runs.agent, <Link to={`/agents/${of.agent.id}`}>{nameOf(of.agent)}</Link>],
                [runs.asker, <UserLink user={of.asker} />],
                [runs.app, of.app && <AppLink app={of.app} />],
                [runs.model, [of.provider, of.model].filter(Boolean).join(' · ')],
                [runs.rounds, of.rounds],
                [runs.calls, of.calls],
                [runs.attempts, of.attempts],
                [runs.tokens, of.usage && `${sayCount(of.usage.input)} / ${sayCount(of.usage.output)}`],
                [runs.took, durationOf(of)],
                [runs.created, <Moment at={of.created_at} />],
                [runs.ended, <Moment at={of.ended_at} />],
                [runs.finish, of.finish],
              ]}
            />
          </Card>
          <Card title={runs.steps}>
            <Table
              label={runs.steps}
              columns={columns}
              rows={of.steps ?? []}
              empty={runs.noSteps}
              keyOf={({ n }) => n}
            />
          </Card>
        </>
      )}
    </Loaded>
  )
}

const isOpen = ({ state }: RunDetails) => state === 'queued' || state === 'running' || state === 'waiting'
const isRetried = ({ state }: RunDetails) => state === 'failed' || state === 'cancelled' || state === 'expired'
