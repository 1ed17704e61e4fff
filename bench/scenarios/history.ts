import { Bare } from '../bare.ts'
import { hall } from '../crowd.ts'
import { ratioOf } from '../figures.ts'
import { measureExchange } from '../measure.ts'
import { compare, peerLabel } from '../peers/comparison.ts'
import { Peer } from '../peers/peer.ts'
import { measureRounds } from '../rounds.ts'
import type { AnyStage, Scenario } from '../stage.ts'
import { newestPage, toReads } from '../traffic.ts'

const connections = 64
const parley = `Parley, ${connections} connections`
const bareName = `bare uWebSockets.js, ${connections} connections`
const peerName = peerLabel(`${connections} connections`)
const described = { label: parley, subject: 'parley', unit: 'pages' } as const

/**
 * How many times a second can people open a room and see its last messages? What counts is the share of what
 * uWebSockets.js reaches when it answers with the same bytes from memory.
 */
export const history: Scenario = {
  name: 'history',
  question: 'How many times a second can people open a room and see its last 25 messages?',
  figure: 'pages a second, beside uWebSockets.js answering with the same bytes',
  needs: { hall },
  comparesPeers: true,

  async run(stage) {
    const page = await readPage(stage)
    const bare = await Bare.start(page)
    const job = toJob(stage)
    const peer = await Peer.start(stage)
    const peerDescribed = { label: peerName, subject: 'peer', unit: 'pages' } as const
    const steps = [
      () => measureExchange(stage, { label: bareName, subject: 'baseline', unit: 'pages' }, job, bare),
      () => peer && peer.measure(stage, there => measureExchange(there, peerDescribed, toJob(there))),
      () => measureExchange(stage, described, job),
    ]
    const measurements = await measureRounds(stage, () => steps).finally(() => {
      bare.stop()
      return peer?.stop()
    })
    const value = ratioOf(measurements, parley, bareName)
    return {
      measurements,
      targets: [{ name: 'pages ÷ bare uWebSockets.js', value, bound: 'at least', limit: 0.4, unit: '×' }],
      comparisons: peer === null ? [] : [compare(measurements, parley, peerName)],
      notes: [describePage(page)],
    }
  },

  async runElsewhere(stage) {
    const measurements = await measureRounds(stage, () => [() => measureExchange(stage, described, toJob(stage))])
    return { measurements, targets: [], notes: [describePage(await readPage(stage))] }
  },
}

function readPage({ server, rooms }: AnyStage): Promise<string> {
  const { app, members } = rooms.hall![0]!
  return server.call('GET', newestPage(app), undefined, members[0]!.token)
}

function toJob({ rooms }: AnyStage) {
  return { connections: toReads(rooms.hall!, connections) }
}

function describePage(page: string): string {
  return `A page has ${Buffer.byteLength(page).toLocaleString('en')} bytes.`
}
