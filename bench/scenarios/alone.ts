import { cpuTarget, ratioOf, type Target } from '../figures.ts'
import { measureExchange, measurePeer, measureUntilDone } from '../measure.ts'
import { compare, peerLabel, ratioTarget } from '../peers/comparison.ts'
import { Peer } from '../peers/peer.ts'
import { insert, Pgbench, pgbenchName } from '../pgbench.ts'
import { measureRounds } from '../rounds.ts'
import type { AnyStage, Outcome, Scenario } from '../stage.ts'
import { smallRooms, toSends } from '../traffic.ts'

const label = 'Parley, one sender'
const described = { label, subject: 'parley', unit: 'sends' } as const
const peerDescribed = { label: peerLabel('one sender'), subject: 'peer', unit: 'sends' } as const

/**
 * How long does a message take that nobody else is sending beside? Most servers live like that. What counts is the time
 * against pgbench with one client, and the processor time with everything that follows from a message.
 */
export const alone: Scenario = {
  name: 'alone',
  question: 'How long does one sender wait for each of their messages, and what does it cost?',
  figure: 'time until a message is acknowledged, beside a single-row insert by pgbench with one client',
  needs: { rooms: smallRooms },
  comparesPeers: true,

  async run(stage) {
    const pgbench = await Pgbench.find(stage.parley)
    const send = async () => {
      const { measurement } = await measureUntilDone(stage, described, { connections: toLoad(stage) })
      return measurement
    }
    const peer = await Peer.start(stage)
    const sendThere = () =>
      peer && peer.measure(stage, there => measurePeer(there, peerDescribed, { connections: toLoad(there) }))
    const steps = [() => insert(stage, pgbench, 1), sendThere, send]
    const measurements = await measureRounds(stage, () => steps).finally(() => peer?.stop())
    pgbench?.stop()
    const comparisons = peer === null ? [] : [compare(measurements, label, peerDescribed.label, { isUntilDone: true })]
    const costs = [
      cpuTarget(measurements, label, 'messages of one sender, all done', 0.6),
      ...comparisons.flatMap(one => [...ratioTarget(one, 'p50', 0.75), ...ratioTarget(one, 'CPU of 1,000', 0.7)]),
    ]
    if (pgbench === null) return { measurements, targets: costs, comparisons, notes: ['pgbench is not installed.'] }
    const value = ratioOf(measurements, label, pgbenchName(1), 'p50Ms')
    const wait: Target = { name: 'p50 ÷ pgbench with one client', value, bound: 'at most', limit: 3.5, unit: '×' }
    const notes = ['Sends a second are with what they leave to be done.']
    return { measurements, targets: [wait, ...costs], comparisons, notes }
  },

  async runElsewhere(stage): Promise<Outcome> {
    const send = () => measureExchange(stage, described, { connections: toLoad(stage) })
    return { measurements: await measureRounds(stage, () => [send]), targets: [] }
  },
}

const toLoad = ({ rooms }: AnyStage) => toSends(rooms.rooms!, 1)
