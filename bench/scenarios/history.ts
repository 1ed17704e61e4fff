import { Bare } from '../bare.ts'
import { ratioOf, type Measurement } from '../figures.ts'
import { toRequest } from '../load/http-connection.ts'
import { measureExchange, type Scenario } from '../stage.ts'

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
    const { app, members } = stage.rooms.hall![0]!
    const path = `/api/apps/${app}/messages?order_by=id+desc`
    const page = await stage.parley.call('GET', path, undefined, members[0]!.token)
    const bare = await Bare.start(page)
    const requests = Array.from({ length: connections }, (_, at) => [toRequest('GET', path, members[at]!.token)])
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
      notes: [`A page has ${Buffer.byteLength(page).toLocaleString('en')} bytes.`],
    }
  },
}
