import { sayCount, sayDuration } from '../parts/amount.ts'
import { Badge } from '../parts/badge.tsx'
import { Card } from '../parts/card.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Moment } from '../parts/moment.tsx'
import { namesOfNodes } from '../parts/names.tsx'
import { Table, type Column } from '../parts/table.tsx'
import type { Job, Node } from '../server/shapes.ts'
import { useResource } from '../server/use-resource.ts'
import { texts } from '../texts.ts'

const { jobs } = texts

/** What nodes do again and again. */
export function JobsView() {
  const resource = useResource<Job[]>('/admin/jobs', { isLive: true })
  const nodes = useResource<Node[]>('/admin/nodes').data ?? []
  const nameOfNode = namesOfNodes(nodes)
  const columns: Column<Job>[] = [
    { title: jobs.name, isName: true, show: ({ name }) => name },
    {
      title: jobs.state,
      show: ({ error }) =>
        error === undefined ? (
          <Badge tone="good">{jobs.fine}</Badge>
        ) : (
          <>
            <Badge tone="bad">{jobs.failed}</Badge>
            <span class="small block">{error}</span>
          </>
        ),
    },
    { title: jobs.last, show: ({ last_run_at }) => <Moment at={last_run_at} /> },
    { title: jobs.duration, isFigure: true, show: ({ duration }) => sayDuration(duration) },
    { title: jobs.period, isFigure: true, show: ({ period }) => sayDuration(period * 1000) },
    { title: jobs.rows, isFigure: true, show: ({ rows }) => rows !== undefined && sayCount(rows) },
    { title: jobs.runs, isFigure: true, show: ({ runs }) => sayCount(runs) },
    ...(nodes.length > 1 ? [{ title: jobs.node, show: ({ node }: Job) => nameOfNode(node) }] : []),
  ]
  return (
    <>
      <Heading title={jobs.title} hint={jobs.hint} />
      <Card>
        <Loaded of={resource} rows={12}>
          {rows => (
            <Table
              label={jobs.title}
              columns={columns}
              rows={rows}
              empty={jobs.empty}
              keyOf={({ node, name }) => `${node} ${name}`}
            />
          )}
        </Loaded>
      </Card>
    </>
  )
}
