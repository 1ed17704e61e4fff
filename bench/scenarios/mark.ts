import { hall } from '../crowd.ts'
import { cpuTarget } from '../figures.ts'
import { toRequest } from '../load/http-connection.ts'
import { measureExchange } from '../measure.ts'
import { measureRounds } from '../rounds.ts'
import type { Scenario } from '../stage.ts'

const connections = 64
const label = `Parley, ${connections} connections`

/**
 * What does it cost when everybody in a large room reads along? What counts is the processor time of moving a read
 * marker, which happens more often than anything else.
 */
export const mark: Scenario = {
  name: 'mark',
  question: 'What does it cost when 500 people in a room read along and move their markers?',
  figure: 'moved markers a second, and their processor time',
  needs: { hall },

  async run(stage) {
    const { app, members, messages } = stage.rooms.hall![0]!
    // Every connection speaks for several people, who move on by one message each in turn.
    const requests = Array.from({ length: Math.min(connections, members.length) }, (_, at) =>
      members
        .filter((_, index) => index % connections === at)
        .map(({ token }) => toRequest('PUT', `/api/apps/${app}/mark?message_id={id}`, token)),
    )
    const described = { label, subject: 'parley', unit: 'markers' } as const
    const measurements = await measureRounds(stage, round => {
      // The app keeps its place between rounds, so each begins where nobody has been.
      const ids = messages.slice(Math.floor((round * messages.length) / stage.rounds))
      return [() => measureExchange(stage, described, { connections: requests, ids })]
    })
    return { measurements, targets: [cpuTarget(measurements, label, 'moved markers', 0.14)] }
  },
}
