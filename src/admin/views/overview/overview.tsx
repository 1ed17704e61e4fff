import { sayCompact, sayCount } from '../../parts/amount.ts'
import { Card } from '../../parts/card.tsx'
import { Chart } from '../../parts/chart.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import type { Node } from '../../server/shapes.ts'
import { livePeriodMs } from '../../server/use-load.ts'
import { useResource } from '../../server/use-resource.ts'
import { useSeries, type SeriesByName } from '../../server/use-series.ts'
import { texts } from '../../texts.ts'
import { NodeTable } from './node-table.tsx'
import { Warnings } from './warnings.tsx'

const names = ['commands', 'deliveries_queued', 'requests_2xx', 'requests_4xx', 'requests_5xx'] as const

/** How the service fares, at a glance. */
export function OverviewView() {
  const nodes = useResource<Node[]>('/admin/nodes', { everyMs: livePeriodMs })
  const series = useSeries(names, '1h')
  const { overview, metrics } = texts
  const sum = (of: (node: Node) => number) => nodes.data?.reduce((total, node) => total + of(node), 0)
  const last = (name: keyof SeriesByName) => series.data?.byName[name]?.at(-1)?.[1]
  const commands = last('commands')
  return (
    <>
      <Heading title={overview.title} hint={versionOf(nodes.data)} />
      <div class="figures">
        <Figure name={overview.nodes} value={nodes.data?.length} />
        <Figure name={overview.sessions} value={sum(({ sessions }) => sessions)} />
        <Figure name={overview.sends} value={commands && commands / 60} />
        <Figure name={overview.waiting} value={sum(({ waiting }) => waiting)} />
        <Figure name={overview.queued} value={last('deliveries_queued')} />
      </div>
      <Warnings />
      <Card title={metrics.requests}>
        <Loaded of={series} rows={3}>
          {({ byName, from, to, step }) => (
            <Chart
              label={metrics.requests}
              {...{ from, to, step }}
              lines={[
                { label: '2xx', color: '--chart-2', points: byName.requests_2xx ?? [] },
                { label: '4xx', color: '--chart-3', points: byName.requests_4xx ?? [] },
                { label: '5xx', color: '--chart-4', points: byName.requests_5xx ?? [] },
              ]}
            />
          )}
        </Loaded>
      </Card>
      <Card title={overview.nodes}>
        <Loaded of={nodes} rows={1}>
          {list => <NodeTable nodes={list} />}
        </Loaded>
      </Card>
    </>
  )
}

function Figure({ name, value }: { name: string; value: number | undefined }) {
  return (
    <div class="card">
      <span class="muted small">{name}</span>
      <strong title={value === undefined ? '' : sayCount(value)}>
        {value === undefined ? '–' : sayCompact(value)}
      </strong>
    </div>
  )
}

/** While nodes are replaced there are two. */
function versionOf(nodes: Node[] = []): string {
  const versions = [...new Set(nodes.map(({ version }) => version))]
  return versions.length === 0 ? texts.overview.hint : texts.overview.version(versions.join(', '))
}
