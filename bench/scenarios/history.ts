import { Bare } from '../bare.ts'
import { ratioOf, type Measurement } from '../figures.ts'
import { toRequest } from '../load/http-connection.ts'
import { measureExchange } from '../measure.ts'
import type { AnyStage, Scenario } from '../stage.ts'

const connections = 64
const parley = `Parley, ${connections} connections`
const bareName = `bare uWebSockets.js, ${connections} connections`

/**
 * How many times a second can people open a room and see its last messages? What counts is the share of what
 * uWebSockets.js reaches when it answers with the same bytes from memory.
 */
export const history: Scenario = {
  name: 'history',
  question: 'How many times a second can people open a room and see its last 25 messages?',
  figure: 'pages a second, beside uWebSockets.js answering with the same bytes',
  needs: { hall: { rooms: 1, members: 500, messages: 10_000 } },

  async run(stage) {
    const page = await readPage(stage)
    const bare = await Bare.start(page)
    const requests = toReads(stage)
    const measurements: Measurement[] = []
    try {
      for (let round = 0; round < stage.rounds; round++) {
        const steps = [
          () =>
            measureExchange(
              stage,
              { label: bareName, subject: 'baseline', unit: 'pages' },
              { connections: requests },
              bare,
            ),
          () => measureExchange(stage, { label: parley, subject: 'parley', unit: 'pages' }, { connections: requests }),
        ]
        for (const step of round % 2 === 0 ? steps : steps.reverse()) {
          const measurement = await step()
          measurements.push(measurement)
          stage.say(`${measurement.label}: ${Math.round(measurement.perSecond ?? 0)}/s`)
        }
      }
    } finally {
      bare.stop()
    }
    const value = ratioOf(measurements, parley, bareName)
    return {
      measurements,
      targets: [{ name: 'pages ÷ bare uWebSockets.js', value, bound: 'at least', limit: 0.4, unit: '×' }],
      notes: [describePage(page)],
    }
  },

  async runElsewhere(stage) {
    const described = { label: parley, subject: 'parley', unit: 'pages' } as const
    const measurements: Measurement[] = []
    for (let round = 0; round < stage.rounds; round++) {
      measurements.push(await measureExchange(stage, described, { connections: toReads(stage) }))
    }
    return { measurements, targets: [], notes: [describePage(await readPage(stage))] }
  },
}

const toPath = (app: string) => `/api/apps/${app}/messages?order_by=id+desc`

function readPage({ server, rooms }: AnyStage): Promise<string> {
  const { app, members } = rooms.hall![0]!
  return server.call('GET', toPath(app), undefined, members[0]!.token)
}

function toReads({ rooms }: AnyStage): string[][] {
  const { app, members } = rooms.hall![0]!
  return Array.from({ length: connections }, (_, at) => [
    toRequest('GET', toPath(app), members[at % members.length]!.token),
  ])
}

function describePage(page: string): string {
  return `A page has ${Buffer.byteLength(page).toLocaleString('en')} bytes.`
}
