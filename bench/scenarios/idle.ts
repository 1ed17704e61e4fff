import { hall, native, socketIo, toListener, type Protocol } from '../crowd.ts'
import type { Measurement } from '../figures.ts'
import type { HoldJob } from '../load/process.ts'
import { settledBytes } from '../memory.ts'
import type { Parley } from '../parley.ts'
import { compare, peerLabel } from '../peers/comparison.ts'
import { Peer } from '../peers/peer.ts'
import type { AnyStage, Scenario } from '../stage.ts'

const usualConnections = 5_000
const trialConnections = 20

const label = 'Parley, idle connections'
const peerName = peerLabel('idle connections')

/**
 * How much memory does it take that somebody is there and says nothing? What counts is the resident memory that an
 * authenticated, subscribed connection adds to a fresh server, after garbage was collected.
 */
export const idle: Scenario = {
  name: 'idle',
  question: 'How much memory does a connection take that is signed in, subscribed, and silent?',
  figure: 'resident memory of the server for each connection',
  needs: { hall },
  isFresh: true,
  comparesPeers: true,

  async run(stage) {
    const connections = stage.isTrial ? trialConnections : usualConnections
    const ours = await readMemory(stage, stage.parley, connections, native)
    const peer = await Peer.start(stage)
    const theirs =
      peer &&
      (await peer.measure(stage, there => readMemory(there, peer, connections, socketIo)).finally(() => peer.stop()))
    const { before, after } = ours
    const value = (after - before) / connections / 1024
    stage.say(`without connections ${toMiB(before)} MiB, with ${connections} ${toMiB(after)} MiB`)
    const measurements = [toMeasurement(label, ours), ...(theirs ? [toMeasurement(peerName, theirs)] : [])]
    return {
      measurements,
      targets: [{ name: 'memory of an idle connection', value, bound: 'at most', limit: 8, unit: 'KiB' }],
      comparisons: theirs === null ? [] : [compare(measurements, label, peerName)],
      notes: [
        `The server had ${toMiB(before)} MiB without connections and ${toMiB(after)} MiB with ` +
          `${connections.toLocaleString('en')}; what the first of them needs is counted as well.`,
        ...(theirs === null
          ? []
          : [
              `The hand-made server had ${toMiB(theirs.before)} MiB without, and ${toMiB(theirs.after)} MiB with them.`,
            ]),
      ],
    }
  },
}

interface Memory {
  before: number
  after: number
}

async function readMemory(stage: AnyStage, server: Parley | Peer, count: number, protocol: Protocol): Promise<Memory> {
  const before = await heldBytes(stage, server, toHold(stage, 0, protocol))
  return { before, after: await heldBytes(stage, server, toHold(stage, count, protocol)) }
}

function toHold({ server, rooms }: AnyStage, count: number, protocol: Protocol): HoldJob {
  const { app, members } = rooms.hall![0]!
  const listeners = Array.from({ length: count }, (_, at) =>
    toListener(protocol, app, members[at % members.length]!.token),
  )
  return { kind: 'hold', servers: server.origins, path: protocol.path, listeners }
}

/** Memory of the server while connections are held. */
async function heldBytes({ load, isTrial }: AnyStage, server: Parley | Peer, job: HoldJob): Promise<number> {
  let bytes = 0
  await load.hold(job, async () => {
    bytes = await settledBytes(server, isTrial)
  })
  return bytes
}

function toMeasurement(label: string, { after }: Memory): Measurement {
  const unknown = { perSecond: null, p50Ms: null, p95Ms: null, p99Ms: null, diskBytes: null, others: null }
  const costs = { serverCpu: null, databaseCpu: null, loadCpu: null, rssMiB: after / 1024 / 1024 }
  return { label, subject: label === peerName ? 'peer' : 'parley', unit: 'connections', ...unknown, ...costs }
}

const toMiB = (bytes: number) => Math.round(bytes / 1024 / 1024)
