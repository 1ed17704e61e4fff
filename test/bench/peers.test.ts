import { expect, test } from 'vitest'
import { scenarios } from '../../bench/catalogue.ts'
import { areInstalled, describePackages } from '../../bench/peers/packages.ts'
import { benchTimeoutMs, runBench } from '../support/bench.ts'

// Tests install nothing: no traffic but loopback.
const isSkipped = !areInstalled()
if (isSkipped) console.warn(`Not compared with peers: "npm run bench -- --peers" installs ${describePackages()}.`)

test.skipIf(isSkipped)(
  'with --peers, the hand-made server is measured beside Parley, and every figure of both becomes a ratio',
  async () => {
    const names = scenarios.filter(({ comparesPeers }) => comparesPeers).map(({ name }) => name)

    const { report, page } = await runBench('--peers', '--seconds', '2')

    const ratiosOf = (name: string) =>
      report.scenarios
        .find(scenario => scenario.name === name)!
        .comparisons!.map(({ ratios }) => ratios.map(ratio => ratio.name))
    const costs = ['p50', 'p99', 'CPU of 1,000', 'memory']
    const figures = ['per second', ...costs]
    expect(report.scenarios.map(({ name }) => name)).toEqual(names)
    expect(ratiosOf('idle')).toEqual([['memory']])
    expect(ratiosOf('alone')).toEqual([[...costs, 'disk']])
    expect(ratiosOf('steady')).toEqual([[...costs, 'disk']])
    expect(ratiosOf('history')).toEqual([figures])
    expect(ratiosOf('send')).toEqual([figures, [...costs, 'disk'], figures, [...costs, 'disk']])
    expect(ratiosOf('fan-out')).toEqual([figures])
    expect(page).toContain('divided by hand-made, one sender')
    const bounds = report.scenarios.flatMap(({ targets }) =>
      targets.filter(({ name }) => name.includes(' ÷ hand-made')),
    )
    expect(bounds.map(({ name, limit }) => [name.split(', ')[0], limit])).toEqual([
      ['p50', 0.75],
      ['CPU of 1,000', 0.7],
      ['CPU of 1,000', 0.9],
      ['CPU of 1,000', 0.25],
    ])
    const fanOut = report.scenarios.find(({ name }) => name === 'fan-out')!
    expect(fanOut.targets.find(({ name }) => name === 'deliveries lost')!.value).toBe(0)
  },
  benchTimeoutMs,
)
