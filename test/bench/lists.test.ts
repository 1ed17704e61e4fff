import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Answered } from '../../bench/large/ask.ts'
import { benchTimeoutMs, runProgram } from '../support/bench.ts'

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
  benchTimeoutMs,
)
