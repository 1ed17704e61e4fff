import { sayCount } from '../../parts/amount.ts'
import { Badge } from '../../parts/badge.tsx'
import { ConfirmButton } from '../../parts/buttons.tsx'
import { Card } from '../../parts/card.tsx'
import { Chart, type Lines } from '../../parts/chart.tsx'
import { exact } from '../../parts/filters.tsx'
import { Heading } from '../../parts/heading.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { AppLink, namesOfNodes, UserLink } from '../../parts/names.tsx'
import { actions, Table, type Column } from '../../parts/table.tsx'
import { useServer } from '../../server/server.ts'
import type { Node, RealtimeSession, RealtimeSessions } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { useSeries } from '../../server/use-series.ts'
import { texts } from '../../texts.ts'

const { realtime, nodes: nodeTexts } = texts
const filters = [exact('user', realtime.user), exact('app', realtime.app)]

const lines = {
  sessions_native: { label: realtime.kinds.native, color: '--chart-1' },
  sessions_hub: { label: realtime.kinds.hub, color: '--chart-3' },
  channels: { label: realtime.subscribed, color: '--chart-2' },
} satisfies Lines
const names = Object.keys(lines) as (keyof typeof lines)[]

const toColumns = (nameOf: (node: string) => string): Column<Node>[] => [
  { title: nodeTexts.host, isName: true, show: ({ id }) => nameOf(id) },
  { title: nodeTexts.version, show: ({ version }) => version },
  { title: nodeTexts.sessions, isFigure: true, show: ({ sessions }) => sayCount(sessions) },
]

/** Who is connected, and where. */
export function RealtimeView() {
  const nodes = useResource<Node[]>('/admin/nodes', { isLive: true })
  const series = useSeries(names, '1h')
  return (
    <>
      <Heading title={realtime.title} hint={realtime.hint} />
      <Card title={realtime.overTime}>
        <Loaded of={series} rows={3}>
          {figures => <Chart label={realtime.overTime} lines={lines} of={figures} />}
        </Loaded>
      </Card>
      <Card title={realtime.byNode}>
        <Loaded of={nodes} rows={1}>
          {list => (
            <Table label={realtime.byNode} columns={toColumns(namesOfNodes(list))} rows={list} keyOf={({ id }) => id} />
          )}
        </Loaded>
      </Card>
      <SessionList nodes={nodes.data ?? []} />
    </>
  )
}

/** Connections of all nodes, newest first: whose they are, what they are subscribed to; and a way to end them. */
function SessionList({ nodes }: { nodes: Node[] }) {
  const server = useServer()
  const list = useList<RealtimeSession, RealtimeSessions>('/admin/sessions', filters, { isLive: true })
  const silent = list.data?.silent_nodes ?? []
  const nameOfNode = namesOfNodes(nodes)
  const end = async (id: string) => {
    await server.remove(`/admin/sessions/${id}`)
    list.reload()
    return realtime.ended
  }
  const columns: Column<RealtimeSession>[] = [
    {
      title: realtime.user,
      isName: true,
      show: ({ user }) =>
        user === undefined ? <span class="muted">{realtime.nobody}</span> : <UserLink user={user} />,
    },
    { title: realtime.kind, show: ({ kind }) => <Badge>{realtime.kinds[kind]}</Badge> },
    { title: realtime.node, show: ({ node }) => nameOfNode(node) },
    { title: realtime.since, show: ({ since }) => <Moment at={since} /> },
    { title: realtime.address, show: ({ ip }) => <code>{ip}</code> },
    { title: realtime.subscriptions, show: session => <Subscriptions of={session} /> },
    actions(({ id }) => (
      <ConfirmButton
        isSmall
        isDangerous
        title={realtime.end}
        text={realtime.endHint}
        submit={realtime.end}
        onConfirm={() => end(id)}
      >
        {realtime.endShort}
      </ConfirmButton>
    )),
  ]
  return (
    <section class="stack">
      <h2>{realtime.open}</h2>
      {silent.length > 0 && <p class="muted">{realtime.silent(silent.map(nameOfNode).join(', '))}</p>}
      <List of={list} label={realtime.open} columns={columns} filters={filters} empty={realtime.empty} />
    </section>
  )
}

function Subscriptions({ of: { apps = [], subscriptions } }: { of: RealtimeSession }) {
  return (
    <span class="badges">
      {apps.map(app => (
        <AppLink key={app.id} app={app} />
      ))}
      {subscriptions > apps.length && <Badge>{realtime.more(subscriptions - apps.length)}</Badge>}
    </span>
  )
}
