import { sayBytes, sayCount, sayDuration } from '../../parts/amount.ts'
import { Badge } from '../../parts/badge.tsx'
import { Moment } from '../../parts/moment.tsx'
import { namesOfNodes } from '../../parts/names.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import type { Node } from '../../server/shapes.ts'
import { texts } from '../../texts.ts'

/** A node speaks every ten seconds; one that has missed two turns may be gone. */
const lateMs = 25_000

/** Later than this, people notice: from there on an interface does not feel immediate. */
const slowMs = 100

const { nodes } = texts

const toColumns = (nameOf: (node: string) => string): Column<Node>[] => [
  {
    title: nodes.host,
    isName: true,
    show: ({ id, is_current }) => (
      <span class="badges">
        <span>{nameOf(id)}</span>
        {is_current && <Badge>{nodes.current}</Badge>}
      </span>
    ),
  },
  { title: nodes.state, show: node => <NodeState node={node} /> },
  { title: nodes.version, show: ({ version }) => version },
  { title: nodes.started, show: ({ started_at }) => <Moment at={started_at} /> },
  { title: nodes.sessions, isFigure: true, show: ({ sessions }) => sayCount(sessions) },
  { title: nodes.waiting, isFigure: true, show: ({ waiting }) => sayCount(waiting) },
  { title: nodes.lag, isFigure: true, show: ({ lag_ms }) => sayDuration(lag_ms) },
  { title: nodes.memory, isFigure: true, show: ({ rss }) => sayBytes(rss) },
]

export function NodeTable({ nodes: rows }: { nodes: Node[] }) {
  return (
    <Table label={texts.overview.nodes} columns={toColumns(namesOfNodes(rows))} rows={rows} keyOf={({ id }) => id} />
  )
}

function NodeState({ node: { seen_at, lag_ms } }: { node: Node }) {
  if (Date.now() - Date.parse(seen_at) > lateMs) return <Badge tone="bad">{nodes.silent}</Badge>
  return lag_ms > slowMs ? <Badge tone="warn">{nodes.slow}</Badge> : <Badge tone="good">{nodes.healthy}</Badge>
}
