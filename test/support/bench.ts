import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Report } from '../../bench/report.ts'

/** Every scenario starts servers and waits until they have nothing to do. */
export const benchTimeoutMs = 300_000

/** The bench as its users run it. */
export async function runProgram(args: string[]): Promise<{ code: number; said: string }> {
  const program = join(import.meta.dirname, '../../bench/run.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', chunk => (said += chunk))
  const [code] = (await once(child, 'close')) as [number]
  return { code, said }
}

/** The same, small and short, with its report. */
export async function runBench(...args: string[]): Promise<{ report: Report; page: string }> {
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
