import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isMissed, type Done } from '../bench/bulk/run.ts'
import { scenarios } from '../bench/catalogue.ts'
import type { Answered } from '../bench/large/ask.ts'
import type { Report } from '../bench/report.ts'
import { createDirectory, programKey, startProgram } from './support/process.ts'

/** Every scenario starts servers and waits until they have nothing to do. */
const timeoutMs = 300_000

test(
  'every scenario of the bench runs, and all are in its report',
  async () => {
    const names = scenarios.map(({ name }) => name)

    const { report, page } = await runBench(...names)

    expect(report.scenarios.map(({ name }) => name)).toEqual(names)
    for (const { name, measurements, targets } of report.scenarios) {
      expect([name, measurements.length + targets.length]).not.toEqual([name, 0])
      expect(page).toContain(`<h2>${name}</h2>`)
    }
  },
  timeoutMs,
)

test(
  'a server that runs elsewhere is measured without its processor time, at a rate as well, and left as it was',
  async () => {
    await using dir = createDirectory()
    await using program = await startProgram(dir)
    const names = scenarios.filter(({ runElsewhere }) => runElsewhere !== undefined).map(({ name }) => name)

    const there = ['--url', program.url, '--key', programKey]
    const { report } = await runBench(...names, ...there)

    const paced = await runBench('send', '--rate', '50', '--seconds', '2', ...there)

    expect(report.scenarios.map(({ name }) => name)).toEqual(names)
    const measurements = report.scenarios.flatMap(({ measurements }) => measurements)
    expect(measurements.filter(({ serverCpu, databaseCpu }) => serverCpu !== null || databaseCpu !== null)).toEqual([])
    const sent = paced.report.scenarios[0]!.measurements[0]!.perSecond!
    expect(Math.abs(sent - 50)).toBeLessThan(10)
    expect((await program.admin.get('/api/apps')).body).toMatchObject({ count: '0' })
    expect((await program.admin.get('/api/users')).body).toMatchObject({ count: '0' })
  },
  timeoutMs,
)

test(
  'a seeded deployment is loaded once, and its lists are asked for cold and warm, with the pages that they take',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'parley-bench-test-'))
    const list = ['--size', 'small', '--data', join(dir, 'data'), '--out', dir, '--only', '/api/directories/1']
    try {
      const first = await runProgram(list)
      const second = await runProgram(list)

      expect(first.said).toContain('loaded in')
      expect(second.said).not.toContain('loaded in')
      const reports = globSync('lists-*.json', { cwd: dir })
      expect(reports, second.said).toHaveLength(2)
      const lists = JSON.parse(readFileSync(join(dir, reports.toSorted()[1]!), 'utf8')) as Answered[]
      const missed = lists.filter(({ p50Ms, limitMs }) => limitMs !== null && p50Ms > limitMs)
      expect(second.code).toBe(missed.length === 0 ? 0 : 1)
      expect(lists.map(({ by }) => by)).toContain('key')
      for (const { coldMs, p50Ms, worstMs, buffers } of lists) {
        expect(Math.min(coldMs, p50Ms)).toBeGreaterThan(0)
        expect(worstMs).toBeGreaterThanOrEqual(p50Ms)
        expect(buffers).toBeGreaterThan(0)
      }
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  },
  timeoutMs,
)

test(
  'of what is done in masses in a seeded deployment, it is said how long people waited who wrote meanwhile',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'parley-bench-test-'))
    try {
      const { said, code } = await runProgram(['--size', 'small', '--bulk', '--data', join(dir, 'data'), '--out', dir])

      const [report] = globSync('bulk-*.json', { cwd: dir })
      expect(report, said).toBeDefined()
      const done = JSON.parse(readFileSync(join(dir, report!), 'utf8')) as Done[]
      expect(done.map(({ name }) => name)).toContain('all notifications are marked as read')
      for (const { name, tookMs, doneMs, waits } of done) {
        expect(tookMs).toBeGreaterThan(0)
        expect(doneMs, name).toBeGreaterThanOrEqual(tookMs)
        expect(waits.maxMs, name).toBeGreaterThanOrEqual(waits.p50Ms)
      }
      expect(code).toBe(done.some(isMissed) ? 1 : 0)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  },
  timeoutMs,
)

async function runProgram(args: string[]): Promise<{ code: number; said: string }> {
  const program = join(import.meta.dirname, '../bench/run.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', chunk => (said += chunk))
  const [code] = (await once(child, 'close')) as [number]
  return { code, said }
}

/** The bench as its users run it, small and short. */
async function runBench(...args: string[]): Promise<{ report: Report; page: string }> {
  const out = mkdtempSync(join(tmpdir(), 'parley-bench-test-'))
  try {
    const { code, said } = await runProgram(['--trial', '--out', out, ...args])
    if (code !== 0) throw new Error(`The bench ended with ${code}: ${said}`)
    const read = (extension: string) => readFileSync(join(out, globSync(`*.${extension}`, { cwd: out })[0]!), 'utf8')
    return { report: JSON.parse(read('json')) as Report, page: read('html') }
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}
