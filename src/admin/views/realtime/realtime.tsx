import { sayCount } from '../../parts/amount.ts'
import { Card } from '../../parts/card.tsx'
import { Chart } from '../../parts/chart.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { namesOfNodes } from '../../parts/names.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import type { Node } from '../../server/shapes.ts'
import { livePeriodMs } from '../../server/use-load.ts'
import { useResource } from '../../server/use-resource.ts'
import { useSeries } from '../../server/use-series.ts'
import { texts } from '../../texts.ts'
import { SessionList } from './session-list.tsx'

const { realtime, nodes: nodeTexts } = texts
const names = ['sessions_native', 'sessions_hub', 'channels'] as const

const toColumns = (nameOf: (node: string) => string): Column<Node>[] => [
  { title: nodeTexts.host, isName: true, show: ({ id }) => nameOf(id) },
  { title: nodeTexts.version, show: ({ version }) => version },
  { title: nodeTexts.sessions, isFigure: true, show: ({ sessions }) => sayCount(sessions) },
]

/** Who is connected, and where. */
export function RealtimeView() {
  const nodes = useResource<Node[]>('/admin/nodes', { everyMs: livePeriodMs })
  const series = useSeries(names, '1h')
  return (
    <>
      <Heading title={realtime.title} hint={realtime.hint} />
      <Card title={realtime.overTime}>
        <Loaded of={series} rows={3}>
          {({ byName, from, to, step }) => (
            <Chart
              label={realtime.overTime}
              {...{ from, to, step }}
              lines={[
                { label: realtime.kinds.native, color: '--chart-1', points: byName.sessions_native ?? [] },
                { label: realtime.kinds.hub, color: '--chart-3', points: byName.sessions_hub ?? [] },
                { label: realtime.subscribed, color: '--chart-2', points: byName.channels ?? [] },
              ]}
            />
          )}
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
