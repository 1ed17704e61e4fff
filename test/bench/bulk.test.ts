import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isMissed, type Done } from '../../bench/bulk/run.ts'
import { benchTimeoutMs, runProgram } from '../support/bench.ts'

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
  benchTimeoutMs,
)
