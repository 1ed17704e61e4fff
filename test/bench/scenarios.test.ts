import { expect, test } from 'vitest'
import { scenarios } from '../../bench/catalogue.ts'
import { benchTimeoutMs, runBench } from '../support/bench.ts'

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
  benchTimeoutMs,
)
