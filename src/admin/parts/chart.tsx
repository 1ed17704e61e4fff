import { useEffect, useMemo, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import type { FigureName } from '../server/shapes.ts'
import type { Figures, Points } from '../server/use-series.ts'
import { texts } from '../texts.ts'
import { sayCompact } from './amount.ts'

/** What is drawn, by the names of figures; colours are custom properties of the styles, such as `--chart-1`. */
export type Lines = Partial<Record<FigureName, { label: string; color: string }>>

interface ChartProps {
  label: string
  lines: Lines
  of: Figures
  say?: (value: number) => string
}

interface Line {
  label: string
  color: string
  points: Points
}

const heightPx = 200

const daySeconds = 86_400
const inFull = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const ofDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const ofWeek = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** A time below an axis: of more than a day, which day. */
const sayTime = (time: number, seconds: number) => (seconds > daySeconds ? ofWeek : ofDay).format(time * 1000)

/** How far above the largest value a chart goes on, so that a line at its top can be seen. */
const headroom = 1.08

/** Lines over time, in the colours of the styles, as wide as there is room. */
export function Chart({ label, lines: shown, of, say = sayCompact }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const lines = Object.entries(shown).map(([name, line]) => ({ ...line, points: of.byName[name as FigureName] ?? [] }))
  const data = useMemo(() => align(lines, of), [shown, of])
  const latest = useRef({ data, of })
  latest.current = { data, of }

  useEffect(() => {
    const element = place.current!
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const draw = () => {
      plot.current?.destroy()
      plot.current = new UPlot(toOptions(element, lines, latest, say), latest.current.data, element)
    }
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: widthWithin(element), height: heightPx }))
    draw()
    resize.observe(element)
    scheme.addEventListener('change', draw)
    return () => {
      scheme.removeEventListener('change', draw)
      resize.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
    // Drawn anew for other lines only; their points are set below.
  }, [shown])
  useEffect(() => plot.current?.setData(data), [data])

  return <div class="chart" ref={place} role="img" aria-label={`${label}: ${lines.map(sayLast(say)).join(', ')}`} />
}

/** The last value of a line, in words. */
function sayLast(say: (value: number) => string) {
  return ({ label, points }: Line) => `${label} ${points.length === 0 ? '–' : say(points.at(-1)![1])}`
}

/** The points of all lines at common times; null where a line has none. */
function align(lines: Line[], { from, to, step }: Figures): UPlot.AlignedData {
  const first = Math.floor(from / step) * step
  const times = Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, i) => first + i * step)
  const values = lines.map(({ points }) => {
    const known = new Map(points.map(([at, value]) => [Math.floor(Date.parse(at) / 1000 / step) * step, value]))
    return times.map(time => known.get(time) ?? null)
  })
  return [times, ...values]
}

/** Values without a neighbour, of which no line is drawn: after a start there is but one. */
function findLone(plot: UPlot, line: number): number[] {
  const values = plot.data[line]!
  const isThere = (index: number) => values[index] != null
  return Array.from(values.keys()).filter(index => isThere(index) && !isThere(index - 1) && !isThere(index + 1))
}

const lastOf = (values: UPlot.AlignedData[number] | undefined) =>
  Array.from(values ?? []).findLast(value => value != null)

/** The width of an element within its padding. */
function widthWithin(element: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(element)
  return Math.floor(element.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight))
}

function toOptions(
  element: HTMLElement,
  lines: Line[],
  latest: { current: { of: Figures } },
  say: (value: number) => string,
): UPlot.Options {
  const style = getComputedStyle(element)
  const color = (name: string) => style.getPropertyValue(name).trim()
  const axis = {
    stroke: color('--text-muted'),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: widthWithin(element),
    height: heightPx,
    padding: [8, 8, 0, 0],
    cursor: { y: false, points: { size: 6 } },
    legend: { show: true, live: true },
    scales: {
      x: { range: () => [latest.current.of.from, latest.current.of.to] },
      y: { range: (_, __, most) => [0, most * headroom || 1] },
    },
    axes: [
      {
        ...axis,
        space: 64,
        size: 32,
        values: (_, splits) => splits.map(time => sayTime(time, latest.current.of.to - latest.current.of.from)),
      },
      { ...axis, size: 52, values: (_, splits) => splits.map(value => say(value)) },
    ],
    series: [
      {
        label: texts.metrics.time,
        value: (_, time) => (time === null ? texts.metrics.latest : inFull.format(time * 1000)),
      },
      ...lines.map(line => ({
        label: line.label,
        stroke: color(line.color),
        width: 1.75,
        points: { show: true, size: 5, filter: findLone },
        // Without a pointer, the legend shows the last value.
        value: (plot: UPlot, value: number | null, line: number, index: number | null) => {
          const shown = index === null ? lastOf(plot.data[line]) : value
          return shown == null ? '–' : say(shown)
        },
      })),
    ],
  }
}
