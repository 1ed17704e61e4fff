import { hall, hub as signalR, listeners, native, perSecond, toJob } from '../crowd.ts'
import { ratioOf, type Measurement, type Target } from '../figures.ts'
import { measureBroadcast } from '../measure.ts'
import type { AnyStage, Outcome, Scenario } from '../stage.ts'

const ways = [
  { label: `hub, ${listeners} listeners`, protocol: signalR, subject: 'parley' },
  { label: `native, ${listeners} listeners`, protocol: native, subject: 'baseline' },
] as const
const [overHub, overNative] = ways

/**
 * Do clients of existing UI kits, which speak SignalR, hear a message as soon and as cheaply as those that speak the
 * native protocol? What counts is time from sending to hearing and processor time, each beside the native protocol.
 */
export const hub: Scenario = {
  name: 'hub',
  question: 'Is it as soon and as cheap to tell 1,000 people over the SignalR hub as over the native protocol?',
  figure: 'time from sending to hearing, and processor time, beside the native protocol',
  needs: { hall },

  run: compare,
  runElsewhere: compare,
}

async function compare(stage: AnyStage): Promise<Outcome> {
  const measurements: Measurement[] = []
  let lost = 0
  // As many as in fan-out, and as short.
  for (let round = 0; round < stage.rounds * 2; round++) {
    for (const { label, protocol, subject } of round % 2 === 0 ? ways : ways.toReversed()) {
      const job = toJob(stage.rooms.hall![0]!, protocol, stage)
      const { measurement, result } = await measureBroadcast(stage, { label, subject, unit: 'deliveries' }, job)
      measurements.push(measurement)
      lost += result.missing + result.broken
      stage.say(`${label}: p99 ${measurement.p99Ms?.toFixed(1)} ms, ${result.missing} missing`)
    }
  }
  const ratio = (figure: 'p99Ms' | 'serverCpu') => ratioOf(measurements, overHub.label, overNative.label, figure)
  // The processor time of a server elsewhere is not known.
  const isKnown = stage.server.processes !== null
  return {
    measurements,
    targets: [
      { name: 'p99 ÷ native protocol', value: ratio('p99Ms'), bound: 'at most', limit: 1.3, unit: '×' },
      ...(isKnown ? [costTarget(ratio('serverCpu'))] : []),
      { name: 'deliveries lost', value: lost, bound: 'at most', limit: 0, unit: '' },
    ],
    notes: [`${perSecond} messages a second; the hub's clients ask for messages and notifications.`],
  }
}

function costTarget(value: number): Target {
  return { name: 'server CPU ÷ native protocol', value, bound: 'at most', limit: 1.3, unit: '×' }
}
