import { sayBytes, sayDuration } from '../parts/amount.ts'
import { Card } from '../parts/card.tsx'
import { Chart, type Lines } from '../parts/chart.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import type { FigureName } from '../server/shapes.ts'
import { spans, useSeries, type Span } from '../server/use-series.ts'
import { usePlace } from '../place.tsx'
import { texts } from '../texts.ts'

const { metrics } = texts

interface ChartEntry {
  title: string
  lines: Lines
  say?: (value: number) => string
}

const [first, second, third, fourth] = ['--chart-1', '--chart-2', '--chart-3', '--chart-4'] as const

export const requestLines: Lines = {
  requests_2xx: { label: '2xx', color: second },
  requests_4xx: { label: '4xx', color: third },
  requests_5xx: { label: '5xx', color: fourth },
}

/** What is drawn, what people look at first in front. */
const charts: ChartEntry[] = [
  { title: metrics.requests, lines: requestLines },
  {
    title: metrics.latency,
    say: sayDuration,
    lines: {
      request_p50_ms: { label: metrics.half, color: first },
      request_p99_ms: { label: metrics.most, color: third },
    },
  },
  {
    title: metrics.commits,
    lines: {
      commands: { label: metrics.commands, color: first },
      commits: { label: metrics.commitCount, color: second },
      collisions: { label: metrics.collisions, color: fourth },
    },
  },
  {
    title: metrics.deliveries,
    lines: {
      deliveries_success: { label: metrics.succeeded, color: second },
      deliveries_failure: { label: metrics.failed, color: fourth },
      deliveries_queued: { label: metrics.queued, color: third },
    },
  },
  {
    title: metrics.sessions,
    lines: {
      sessions: { label: metrics.connections, color: first },
      channels: { label: metrics.subscribed, color: second },
    },
  },
  {
    title: metrics.agents,
    lines: {
      agent_runs_done: { label: metrics.runsDone, color: second },
      agent_runs_failed: { label: metrics.runsFailed, color: fourth },
      agent_runs_open: { label: metrics.runsOpen, color: third },
    },
  },
  {
    title: metrics.tokens,
    lines: {
      agent_tokens_in: { label: metrics.tokensIn, color: first },
      agent_tokens_out: { label: metrics.tokensOut, color: second },
    },
  },
  {
    title: metrics.commitTime,
    say: sayDuration,
    lines: {
      commit_p50_ms: { label: metrics.half, color: first },
      commit_p99_ms: { label: metrics.most, color: third },
    },
  },
  {
    title: metrics.background,
    say: sayDuration,
    lines: { background_lag_ms: { label: metrics.backgroundLag, color: third } },
  },
  { title: metrics.lag, say: sayDuration, lines: { lag_ms: { label: metrics.lagLine, color: third } } },
  {
    title: metrics.memory,
    say: sayBytes,
    lines: {
      rss_bytes: { label: metrics.resident, color: first },
      heap_bytes: { label: metrics.heap, color: second },
    },
  },
  { title: metrics.database, say: sayBytes, lines: { database_bytes: { label: metrics.databaseLine, color: first } } },
  {
    title: metrics.load,
    lines: {
      cpu_seconds: { label: metrics.cpu, color: third },
      mailbox: { label: metrics.mailbox, color: fourth },
      apps: { label: metrics.apps, color: first },
    },
  },
]

const names = charts.flatMap(({ lines }) => Object.keys(lines) as FigureName[])

/** How the service has fared, over an hour, a day or a week. */
export function MetricsView() {
  const { query, filter } = usePlace()
  const asked = query.get('span') ?? ''
  const span: Span = asked in spans ? (asked as Span) : '1h'
  const series = useSeries(names, span)
  return (
    <>
      <Heading
        title={metrics.title}
        hint={metrics.hint}
        actions={
          <div class="segments" role="group" aria-label={metrics.span}>
            {(Object.keys(spans) as Span[]).map(name => (
              <button key={name} type="button" aria-pressed={name === span} onClick={() => filter({ span: name })}>
                {metrics.spans[name]}
              </button>
            ))}
          </div>
        }
      />
      <Loaded of={series} rows={8}>
        {figures => (
          <div class="charts">
            {charts.map(({ title, ...chart }) => (
              <Card key={title} title={title}>
                <Chart label={title} {...chart} of={figures} />
              </Card>
            ))}
          </div>
        )}
      </Loaded>
    </>
  )
}
