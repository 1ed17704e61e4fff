import { bars, dots, legend, ranges, ratios } from './charts.ts'
import { isMet, type Measurement, type Target } from './figures.ts'
import type { Machine } from './machine.ts'
import type { Comparison } from './peers/comparison.ts'
import { columns, describe, round } from './print.ts'

export interface ScenarioReport {
  name: string
  question: string
  figure: string
  /** Every run, and the medians of those with the same label. */
  measurements: Measurement[]
  medians: Measurement[]
  targets: Target[]
  comparisons?: Comparison[]
  notes?: string[]
}

export interface Report {
  startedAt: string
  machine: Machine
  scenarios: ScenarioReport[]
}

const style = `
  :root { color-scheme: light dark; --ink: #1c2430; --faint: #687385; --line: #d9dee6; --page: #fff; --parley: #2563eb;
    --baseline: #9aa5b5; --peer: #0d9488; --database: #d97706; --load: #c4cbd6; --good: #15803d; --bad: #b91c1c }
  @media (prefers-color-scheme: dark) { :root { --ink: #e5e9f0; --faint: #93a0b4; --line: #333c4a; --page: #12161d;
    --parley: #6ea0ff; --baseline: #6b7788; --peer: #2dd4bf; --database: #f0a94a; --load: #4a5565; --good: #4ade80; --bad: #f87171 } }
  body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 60rem;
    margin: 2rem auto; padding: 0 1rem }
  h2 { margin: 2.5rem 0 0 } h3 { font-size: 1rem; margin: 1.2rem 0 .2rem } p { margin: .2rem 0; color: var(--faint) }
  table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: .8rem 0 }
  th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: right }
  th:first-child, td:first-child { text-align: left } th { font-weight: 500; color: var(--faint) }
  .met { color: var(--good) } .missed { color: var(--bad); font-weight: 600 }
  svg { width: 100%; height: auto; display: block } svg text { fill: var(--ink); font: 12px system-ui, sans-serif }
  .overflow { overflow-x: auto }`

/** The report as one HTML page that needs nothing else. */
export function toPage(report: Report): string {
  const { startedAt, machine, scenarios } = report
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Bench of ${escape(startedAt)}</title>
<style>${style}</style>
<h1>Bench</h1>
<p>${escape(startedAt)}. Figures are medians over the rounds.</p>
<p>${escape(describe(machine))}</p>
${toTargets(scenarios.flatMap(({ targets }) => targets))}
${scenarios.map(toSection).join('\n')}
</html>
`
}

function toSection(report: ScenarioReport): string {
  const { name, question, figure, measurements, medians, targets, comparisons = [], notes = [] } = report
  const charts = [
    ...chart('Operations a second, every round', dots(medians, measurements)),
    ...chart('Latency in milliseconds: median, 95th and 99th percentile', ranges(medians)),
    ...chart('Processor seconds of 1,000 operations', bars(medians), legend()),
    ...comparisons.flatMap(one => chart(`${one.label}, divided by ${one.peer}: the line is 1`, ratios(one))),
  ]
  return `<h2>${escape(name)}</h2>
<p>${escape(question)} What counts: ${escape(figure)}.</p>
${charts.join('\n')}
${medians.length > 0 ? toTable(medians) : ''}
${toTargets(targets)}
${notes.map(note => `<p>${escape(note)}</p>`).join('\n')}`
}

function chart(title: string, svg: string, key = ''): string[] {
  return svg === '' ? [] : [`<h3>${escape(title)}</h3>${key}${svg}`]
}

function toTable(medians: Measurement[]): string {
  const titles = columns.map(([title]) => title)
  const rows = medians.map(one => columns.map(([, show]) => escape(show(one))))
  const toRow = (tag: string, cells: string[]) => `<tr>${cells.map(cell => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<div class="overflow"><table>${[toRow('th', titles), ...rows.map(row => toRow('td', row))].join('\n')}</table></div>`
}

function toTargets(targets: Target[]): string {
  const rows = targets.map(target => {
    const { name, value, bound, limit, unit } = target
    const verdict = isMet(target) ? '<td class="met">met' : '<td class="missed">missed'
    return `<tr><td>${escape(name)}</td><td>${round(value, 3)} ${unit}</td><td>${bound} ${limit}</td>${verdict}</td></tr>`
  })
  return `<table><tr><th>Target</th><th>Figure</th><th>Bound</th><th></th></tr>${rows.join('\n')}</table>`
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
