import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMet, type Measurement, type Target } from './figures.ts'
import type { Machine } from './machine.ts'
import type { Comparison } from './peers/comparison.ts'
import type { Report, ScenarioReport } from './report.ts'

/** What a table shows of each measurement, under which title. */
export const columns: [title: string, show: (measurement: Measurement) => string][] = [
  ['', ({ label }) => label],
  ['per second', ({ perSecond }) => round(perSecond, 0)],
  ['p50 ms', ({ p50Ms }) => round(p50Ms, 2)],
  ['p95 ms', ({ p95Ms }) => round(p95Ms, 2)],
  ['p99 ms', ({ p99Ms }) => round(p99Ms, 2)],
  ['server CPU', ({ serverCpu }) => round(serverCpu, 3)],
  ['database CPU', ({ databaseCpu }) => round(databaseCpu, 3)],
  ['load CPU', ({ loadCpu }) => round(loadCpu, 3)],
  ['RSS MiB', ({ rssMiB }) => round(rssMiB, 0)],
  ['disk bytes', ({ diskBytes }) => round(diskBytes, 0)],
  ['others %', ({ others }) => round(others === null ? null : others * 100, 0)],
]

/** One scenario for the terminal: a line for each measurement, medians over the rounds. */
export function printScenario({ name, question, medians, targets, comparisons, notes }: ScenarioReport): void {
  const lines = [`\n${name}: ${question}`]
  if (medians.length > 0) lines.push(...toTable(medians))
  lines.push(
    ...targets.map(describeTarget),
    ...(comparisons ?? []).map(describeComparison),
    ...(notes ?? []).map(note => `  ${note}`),
  )
  process.stdout.write(`${lines.join('\n')}\n`)
}

export function printVerdict({ machine, scenarios }: Report): void {
  const targets = scenarios.flatMap(({ targets }) => targets)
  const met = targets.filter(isMet).length
  process.stdout.write(
    `\n${met} of ${targets.length} targets are met. CPU is in seconds for 1,000 operations.\n${describe(machine)}\n`,
  )
}

/** Writes all to the results, and says how much of it is met: false where something is missed. */
export function conclude<One>(name: string, all: One[], isMissed: (one: One) => boolean, out: string): boolean {
  const missed = all.filter(isMissed)
  mkdirSync(out, { recursive: true })
  const file = join(out, `${name}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.json`)
  writeFileSync(file, JSON.stringify(all, null, 2))
  process.stdout.write(`${all.length - missed.length} of ${all.length} are met. ${file}\n`)
  return missed.length === 0
}

/** In one line. */
export function describe(machine: Machine): string {
  const { processor, cores, memoryGiB, kernel, node, postgres, syncMs, commit, elsewhere } = machine
  const own = `${processor}, ${cores} cores, ${memoryGiB} GiB, Linux ${kernel}, Node.js ${node}`
  if (elsewhere !== null)
    return `The server at ${elsewhere}, ${commit}; its processor time is not known. Load from ${own}.`
  return `${own}, PostgreSQL ${postgres}, ${round(syncMs, 2)} ms to bring 8 KiB to the disk, commit ${commit}.`
}

function describeTarget(target: Target): string {
  const { name, value, bound, limit, unit } = target
  return `  ${isMet(target) ? 'met   ' : 'MISSED'} ${name}: ${round(value, 3)} ${unit} (${bound} ${limit})`
}

function describeComparison({ label, peer, ratios }: Comparison): string {
  return `  ${label} ÷ ${peer}: ${ratios.map(({ name, value }) => `${name} ${round(value, 2)}`).join(', ')}`
}

/** With so many decimals; a dash for what is not known. */
export function round(value: number | null, decimals: number): string {
  if (value === null || Number.isNaN(value)) return '–'
  return value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
}

function toTable(measurements: Measurement[]): string[] {
  const rows = [columns.map(([title]) => title), ...measurements.map(one => columns.map(([, read]) => read(one)))]
  const widths = columns.map((_, at) => Math.max(...rows.map(row => row[at]!.length)))
  return rows.map(row =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  '),
  )
}
