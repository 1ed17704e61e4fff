import type { Measurement } from './figures.ts'
import type { Comparison } from './peers/comparison.ts'
import { round } from './print.ts'

const width = 900
const labelWidth = 300
const valueWidth = 90
const rowHeight = 26
const plotWidth = width - labelWidth - valueWidth

/** A bar for each label, and a dot on it for every round. */
export function dots(medians: Measurement[], measurements: Measurement[]): string {
  const most = Math.max(0, ...measurements.map(({ perSecond }) => perSecond ?? 0))
  const known = medians.filter(({ perSecond }) => perSecond !== null)
  return toRows(known, ({ label, perSecond, subject }, y) => {
    const runs = measurements.filter(run => run.label === label)
    const marks = runs.map(
      run => `<circle cx="${scale(run.perSecond, most)}" cy="${y + 9}" r="3" fill="none" stroke="var(--ink)"/>`,
    )
    return bar(0, perSecond, most, y, `var(--${subject})`) + marks.join('') + value(round(perSecond, 0), y)
  })
}

/** A line from the median to the 99th percentile, with a mark at the 95th. The scale is logarithmic. */
export function ranges(medians: Measurement[]): string {
  const known = medians.filter(({ p50Ms }) => p50Ms !== null)
  const all = known.flatMap(({ p50Ms, p95Ms, p99Ms }) => [p50Ms, p95Ms, p99Ms]).filter(ms => ms !== null && ms > 0)
  const least = Math.min(...(all as number[]))
  const most = Math.max(...(all as number[]))
  const at = (ms: number) => labelWidth + (Math.log(ms / least) / Math.log(most / least || 2)) * plotWidth
  return toRows(known, ({ p50Ms, p95Ms, p99Ms, subject }, y) => {
    const points = [p50Ms, p95Ms, p99Ms].filter(ms => ms !== null && ms > 0).map(ms => at(ms!))
    const line = `<line x1="${points[0]}" x2="${points.at(-1)}" y1="${y + 9}" y2="${y + 9}" stroke="var(--${subject})" stroke-width="3"/>`
    const marks = points.map(
      (x, index) => `<circle cx="${x}" cy="${y + 9}" r="${6 - index}" fill="var(--${subject})"/>`,
    )
    return (
      line + marks.join('') + value(points.length > 1 ? `${round(p50Ms, 1)} – ${round(p99Ms, 1)}` : round(p50Ms, 1), y)
    )
  })
}

/** Server, database and load beside each other in one bar. */
export function bars(medians: Measurement[]): string {
  const known = medians.filter(({ serverCpu, databaseCpu }) => serverCpu !== null || databaseCpu !== null)
  const parts = ({ serverCpu, databaseCpu, loadCpu }: Measurement) => [serverCpu ?? 0, databaseCpu ?? 0, loadCpu ?? 0]
  const sum = (values: number[]) => values.reduce((total, part) => total + part, 0)
  const most = Math.max(0, ...known.map(one => sum(parts(one))))
  return toRows(known, (one, y) => {
    const [server, database, load] = parts(one) as [number, number, number]
    return (
      bar(0, server, most, y, 'var(--parley)') +
      bar(server, database, most, y, 'var(--database)') +
      bar(server + database, load, most, y, 'var(--load)') +
      value(round(server + database, 3), y)
    )
  })
}

/** A bar for each ratio, from 1 to where it is. The scale is logarithmic: a half is as far from 1 as a double. */
export function ratios(comparison: Comparison): string {
  const rows = comparison.ratios.map(({ name, value }) => ({ label: name, ratio: value }))
  const furthest = Math.max(Math.log(2), ...rows.map(({ ratio }) => Math.abs(Math.log(ratio))))
  const one = labelWidth + plotWidth / 2
  return toRows(rows, ({ ratio }, y) => {
    const length = (Math.log(ratio) / furthest) * (plotWidth / 2)
    const x = Math.min(one, one + length)
    return (
      `<rect x="${x}" y="${y}" width="${Math.abs(length)}" height="18" fill="var(--peer)"/>` +
      `<line x1="${one}" x2="${one}" y1="${y - 4}" y2="${y + 22}" stroke="var(--ink)"/>` +
      value(round(ratio, 2), y)
    )
  })
}

/** What the colours of `bars` mean. */
export function legend(): string {
  const keys = [
    ['parley', 'server'],
    ['database', 'database'],
    ['load', 'load generator (not counted)'],
  ]
  return `<p>${keys.map(([colour, name]) => `<span style="color:var(--${colour})">■</span> ${name}`).join('&ensp;')}</p>`
}

/** An SVG with a row for each, or nothing where there are none. */
function toRows<Row extends { label: string }>(rows: Row[], draw: (row: Row, y: number) => string): string {
  if (rows.length === 0) return ''
  const lines = rows.map((row, at) => {
    const y = at * rowHeight
    return `<text x="0" y="${y + 14}">${row.label.replaceAll('<', '&lt;')}</text>${draw(row, y)}`
  })
  return `<svg viewBox="0 0 ${width} ${rows.length * rowHeight}" role="img">${lines.join('\n')}</svg>`
}

function bar(from: number, length: number | null, most: number, y: number, colour: string): string {
  const x = scale(from, most)
  return `<rect x="${x}" y="${y}" width="${scale(from + (length ?? 0), most) - x}" height="18" fill="${colour}"/>`
}

function value(text: string, y: number): string {
  return `<text x="${width}" y="${y + 14}" text-anchor="end">${text}</text>`
}

function scale(amount: number | null, most: number): number {
  return labelWidth + (most === 0 ? 0 : ((amount ?? 0) / most) * plotWidth)
}
