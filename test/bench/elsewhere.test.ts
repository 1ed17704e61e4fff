import { expect, test } from 'vitest'
import { scenarios } from '../../bench/catalogue.ts'
import { benchTimeoutMs, runBench } from '../support/bench.ts'
import { createDirectory, programKey, startProgram } from '../support/process.ts'

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
  benchTimeoutMs,
)
