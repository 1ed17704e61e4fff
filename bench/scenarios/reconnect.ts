import { cpuTarget } from '../figures.ts'
import type { Listener } from '../load/listeners.ts'
import { native, toListener } from '../crowd.ts'
import { measureOpening } from '../measure.ts'
import { measureRounds } from '../rounds.ts'
import type { Scenario } from '../stage.ts'

const label = 'Parley, after a restart'

/**
 * How soon is everybody back after a restart? The server has nobody in memory then: it looks up each token and person,
 * and loads each room. What counts is the processor time of that; all come at once here, though clients spread it.
 */
export const reconnect: Scenario = {
  name: 'reconnect',
  question: 'How soon are 5,000 people back in their 500 rooms after a restart?',
  figure: 'signed in and subscribed sessions a second, and their processor time',
  needs: { crowd: { rooms: 500, members: 10, messages: 0 } },

  async run(stage) {
    // One of each room after the other, so that those of a room do not come together.
    const rooms = stage.rooms.crowd!
    const listeners: Listener[] = rooms[0]!.members.flatMap((_, at) =>
      rooms.map(({ app, members }) => toListener(native, app, members[at]!.token)),
    )
    const described = { label, subject: 'parley', unit: 'sessions' } as const
    const comeBack = async () => {
      await stage.parley.restart()
      return measureOpening(stage, described, { path: native.path, listeners })
    }
    const measurements = await measureRounds(stage, () => [comeBack])
    return { measurements, targets: [cpuTarget(measurements, label, 'sessions after a restart', 0.6)] }
  },
}
