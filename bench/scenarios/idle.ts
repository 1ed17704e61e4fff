import { hall, native } from '../crowd.ts'
import type { Listener } from '../load/listeners.ts'
import { settledBytes } from '../memory.ts'
import type { Scenario, Stage } from '../stage.ts'

const usualConnections = 5_000
const trialConnections = 20

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

  async run(stage) {
    const connections = stage.isTrial ? trialConnections : usualConnections
    const before = await heldBytes(stage, 0)
    const after = await heldBytes(stage, connections)
    const value = (after - before) / connections / 1024
    stage.say(`without connections ${toMiB(before)} MiB, with ${connections} ${toMiB(after)} MiB`)
    return {
      measurements: [],
      targets: [{ name: 'memory of an idle connection', value, bound: 'at most', limit: 8, unit: 'KiB' }],
      notes: [
        `The server had ${toMiB(before)} MiB without connections and ${toMiB(after)} MiB with ` +
          `${connections.toLocaleString('en')}; what the first of them needs is counted as well.`,
      ],
    }
  },
}

/** Memory of the server while it holds `count` connections. */
async function heldBytes(stage: Stage, count: number): Promise<number> {
  const { parley, load, rooms } = stage
  const { app, members } = rooms.hall![0]!
  const listeners: Listener[] = Array.from({ length: count }, (_, at) => ({
    token: members[at % members.length]!.token,
    hello: native.hello(app),
  }))
  let bytes = 0
  await load.hold({ kind: 'hold', servers: parley.origins, path: native.path, listeners }, async () => {
    bytes = await settledBytes(stage)
  })
  return bytes
}

const toMiB = (bytes: number) => Math.round(bytes / 1024 / 1024)
