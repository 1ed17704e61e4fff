import { requestLines } from '../metrics.tsx'
import { sayBytes, sayCompact, sayCount, sayDuration } from '../../parts/amount.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card, Figure } from '../../parts/card.tsx'
import { Chart } from '../../parts/chart.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { namesOfNodes } from '../../parts/names.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import type { Node } from '../../server/shapes.ts'
import { useResource } from '../../server/use-resource.ts'
import { useSeries } from '../../server/use-series.ts'
import { texts } from '../../texts.ts'
import { Warnings } from './warnings.tsx'

const { overview, metrics, nodes: nodeTexts } = texts

const names = ['commands', 'deliveries_queued', 'requests_2xx', 'requests_4xx', 'requests_5xx'] as const

/** A node speaks every ten seconds; one that has missed two turns may be gone. */
const lateMs = 25_000

/** Later than this, people notice: from there on an interface does not feel immediate. */
const slowMs = 100

/** How the service fares, at a glance. */
export function OverviewView() {
  const nodes = useResource<Node[]>('/admin/nodes', { isLive: true })
  const series = useSeries(names, '1h')
  const sum = (of: (node: Node) => number) => nodes.data?.reduce((total, node) => total + of(node), 0)
  const last = (name: (typeof names)[number]) => series.data?.byName[name]?.at(-1)?.[1]
  const commands = last('commands')
  return (
    <>
      <Heading title={overview.title} hint={versionOf(nodes.data)} />
      <div class="figures">
        <Count name={overview.nodes} value={nodes.data?.length} />
        <Count name={overview.sessions} value={sum(({ sessions }) => sessions)} />
        <Count name={overview.sends} value={commands && commands / 60} />
        <Count name={overview.waiting} value={sum(({ waiting }) => waiting)} />
        <Count name={overview.queued} value={last('deliveries_queued')} />
      </div>
      <Warnings />
      <Card title={metrics.requests}>
        <Loaded of={series} rows={3}>
          {figures => <Chart label={metrics.requests} lines={requestLines} of={figures} />}
        </Loaded>
      </Card>
      <Card title={overview.nodes}>
        <Loaded of={nodes} rows={1}>
          {list => <NodeTable of={list} />}
        </Loaded>
      </Card>
    </>
  )
}

function Count({ name, value }: { name: string; value: number | undefined }) {
  if (value === undefined) return <Figure name={name} value={value} />
  return <Figure name={name} value={sayCompact(value)} title={sayCount(value)} />
}

/** While nodes are replaced there are two. */
function versionOf(nodes: Node[] = []): string {
  const versions = [...new Set(nodes.map(({ version }) => version))]
  return versions.length === 0 ? overview.hint : overview.version(versions.join(', '))
}

const toColumns = (nameOf: (node: string) => string): Column<Node>[] => [
  {
    title: nodeTexts.host,
    isName: true,
    show: ({ id, is_current }) => (
      <span class="badges">
        <span>{nameOf(id)}</span>
        {is_current && <Badge>{nodeTexts.current}</Badge>}
      </span>
    ),
  },
  { title: nodeTexts.state, show: node => <NodeState of={node} /> },
  { title: nodeTexts.version, show: ({ version }) => version },
  { title: nodeTexts.started, show: ({ started_at }) => <Moment at={started_at} /> },
  { title: nodeTexts.sessions, isFigure: true, show: ({ sessions }) => sayCount(sessions) },
  { title: nodeTexts.waiting, isFigure: true, show: ({ waiting }) => sayCount(waiting) },
  { title: nodeTexts.lag, isFigure: true, show: ({ lag_ms }) => sayDuration(lag_ms) },
  { title: nodeTexts.memory, isFigure: true, show: ({ rss }) => sayBytes(rss) },
]

function NodeTable({ of: rows }: { of: Node[] }) {
  return <Table label={overview.nodes} columns={toColumns(namesOfNodes(rows))} rows={rows} keyOf={({ id }) => id} />
}

function NodeState({ of: { seen_at, lag_ms } }: { of: Node }) {
  if (Date.now() - Date.parse(seen_at) > lateMs) return <Badge tone="bad">{nodeTexts.silent}</Badge>
  return lag_ms > slowMs ? <Badge tone="warn">{nodeTexts.slow}</Badge> : <Badge tone="good">{nodeTexts.healthy}</Badge>
}
