import { setTimeout as delay } from 'node:timers/promises'
import { untilDone } from '../drain.ts'
import { median, type Measurement } from '../figures.ts'
import { measureUntilDone } from '../measure.ts'
import type { Scenario, Stage } from '../stage.ts'
import { smallRooms, toCompany } from '../traffic.ts'
import { costSeconds, readUsage, usageBetween } from '../usage.ts'

const usualRate = 20
const rooms = 20

/**
 * What does a server take from its machine that has little or nothing to do? Most of the day that is so. What counts is
 * the share of one processor, server and database together.
 */
export const trickle: Scenario = {
  name: 'trickle',
  question: 'What does a server take from its machine when there is little to do, or nothing?',
  figure: 'share of one processor with 20 messages a second, above that of an idle server',
  needs: { rooms: smallRooms },
  seconds: 30,
  rounds: 1,
  takesRate: true,

  async run(stage) {
    const perSecond = stage.rate ?? usualRate
    const described = { label: `Parley, ${perSecond} messages a second`, subject: 'parley', unit: 'messages' } as const
    const company = toCompany(stage.rooms.rooms!.slice(0, rooms))
    const measurements: Measurement[] = []
    const idle: number[] = []
    const busy: number[] = []
    for (let round = 0; round < stage.rounds; round++) {
      idle.push(await idleShare(stage))
      stage.say(`idle: ${idle.at(-1)!.toFixed(2)} % of a processor`)
      const done = await measureUntilDone(stage, described, { connections: company, perSecond })
      const { measurement, seconds, operations } = done
      const cost = (measurement.serverCpu! + measurement.databaseCpu!) * (operations / 1000)
      const used = (cost / seconds) * 100
      busy.push(used - idle.at(-1)!)
      measurements.push(measurement)
      stage.say(`${measurement.label}: ${busy.at(-1)!.toFixed(2)} % above idle`)
    }
    const targets = [
      { name: 'an idle server', value: median(idle), bound: 'at most' as const, limit: 0.5, unit: '% of a processor' },
      {
        name: `${usualRate} messages a second, above idle`,
        value: median(busy),
        bound: 'at most' as const,
        limit: 2,
        unit: '% of a processor',
      },
    ]
    return { measurements, targets: stage.rate === null ? targets : targets.slice(0, 1) }
  },
}

/** What server and database take while nobody asks anything, as a percentage of one processor. */
async function idleShare({ parley, load, seconds, isTrial }: Stage): Promise<number> {
  await untilDone(parley, load.pid, isTrial)
  const measured = { ...parley.processes, load: load.pid }
  const startedAt = performance.now()
  const before = readUsage(measured)
  await delay(seconds * 1000)
  const used = costSeconds(usageBetween(before, readUsage(measured)))
  return (used / ((performance.now() - startedAt) / 1000)) * 100
}
