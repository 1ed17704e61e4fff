import { Bare } from '../bare.ts'
import { fill, hall, listeners, native, perSecond, socketIo, toJob, toListeners, toTiming } from '../crowd.ts'
import { ratioOf, type Measurement, type Target } from '../figures.ts'
import type { BroadcastJob, BroadcastResult } from '../load/broadcast.ts'
import { toRequest } from '../load/http-connection.ts'
import { measureBroadcast } from '../measure.ts'
import { compare, peerLabel } from '../peers/comparison.ts'
import { Peer } from '../peers/peer.ts'
import type { AnyStage, Scenario, Stage } from '../stage.ts'

const parley = `Parley, ${listeners} listeners`
const peerName = peerLabel(`${listeners} listeners`)
const bareName = `bare uWebSockets.js, ${listeners} listeners`

/**
 * How soon does everybody in a large room see a message, and does anybody miss one? What counts is the time from
 * sending to hearing at the 99th percentile, against uWebSockets.js publishing the same bytes without storing them.
 */
export const fanOut: Scenario = {
  name: 'fan-out',
  question: 'How soon do 1,000 people in a room see a message, and does anybody miss one?',
  figure: 'time from sending to hearing, beside uWebSockets.js publishing the same bytes',
  needs: { hall },
  comparesPeers: true,

  async run(stage) {
    const measurements: Measurement[] = []
    const results: BroadcastResult[] = []
    const bare = await Bare.start()
    const peer = await Peer.start(stage)
    try {
      // The first message shows what the bare server has to send.
      const { result: first } = await broadcast({ ...stage, seconds: Math.min(stage.seconds, 1) })
      // Twice as many rounds of half the time: one commit that waits for the disk decides the p99 of its round.
      for (let round = 0; round < stage.rounds * 2; round++) {
        const steps = [() => broadcast(stage), () => broadcastBare(stage, bare, first.sample)]
        if (peer !== null) steps.splice(1, 0, () => peer.measure(stage, broadcastThere))
        for (const step of round % 2 === 0 ? steps : steps.reverse()) {
          const { measurement, result } = await step()
          measurements.push(measurement)
          if (measurement.subject !== 'baseline') results.push(result)
          stage.say(`${measurement.label}: p99 ${measurement.p99Ms?.toFixed(1)} ms, ${result.missing} missing`)
        }
      }
    } finally {
      bare.stop()
      await peer?.stop()
    }
    const value = ratioOf(measurements, parley, bareName, 'p99Ms')
    const targets: Target[] = [
      { name: 'p99 ÷ bare uWebSockets.js', value, bound: 'at most', limit: 1.5, unit: '×' },
      lossTarget(results),
    ]
    const comparisons = peer === null ? [] : [compare(measurements, parley, peerName)]
    return { measurements, targets, comparisons, notes: [note] }
  },

  async runElsewhere(stage) {
    const measurements: Measurement[] = []
    const results: BroadcastResult[] = []
    for (let round = 0; round < stage.rounds; round++) {
      const { measurement, result } = await broadcast(stage)
      measurements.push(measurement)
      results.push(result)
    }
    return { measurements, targets: [lossTarget(results)], notes: [note] }
  },
}

const note = `${perSecond} messages a second; latencies end when the listener has read the message.`

function lossTarget(results: BroadcastResult[]): Target {
  const lost = results.reduce((sum, { missing, broken }) => sum + missing + broken, 0)
  return { name: 'deliveries lost', value: lost, bound: 'at most', limit: 0, unit: '' }
}

function broadcastThere(stage: AnyStage) {
  const job = toJob(stage.rooms.hall![0]!, socketIo, stage)
  return measureBroadcast(stage, { label: peerName, subject: 'peer', unit: 'deliveries' }, job)
}

function broadcast(stage: AnyStage) {
  const job = toJob(stage.rooms.hall![0]!, native, stage)
  return measureBroadcast(stage, { label: parley, subject: 'parley', unit: 'deliveries' }, job)
}

function broadcastBare(stage: Stage, bare: Bare, sample: string) {
  const job: Omit<BroadcastJob, 'kind' | 'servers'> = {
    path: '/api/realtime',
    listeners: toListeners(stage, () => ({ token: null, hello: null })),
    request: fill(time => toRequest('POST', '/', null, JSON.parse(sample.replace(/"t=[\d.]+/, `"t=${time}`)))),
    ...toTiming(stage),
    delivery: native.delivery,
    isChained: false,
  }
  return measureBroadcast(stage, { label: bareName, subject: 'baseline', unit: 'deliveries' }, job, bare)
}
