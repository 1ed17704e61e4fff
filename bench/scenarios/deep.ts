import { ratioOf, type Target } from '../figures.ts'
import { toRequest } from '../load/http-connection.ts'
import { measureExchange } from '../measure.ts'
import { measureRounds } from '../rounds.ts'
import type { Scenario } from '../stage.ts'
import type { Room } from '../world.ts'

const connections = 16

interface Question {
  name: string
  request(room: Room, member: number): string
}

const questions: Question[] = [
  { name: 'newest page', request: list('order_by=id+desc') },
  { name: 'oldest page', request: list('order_by=id') },
  { name: 'count', request: list('count_only=true') },
  {
    name: 'send',
    request: ({ app, members }, at) =>
      toRequest('POST', `/api/apps/${app}/messages`, members[at % members.length]!.token, {
        text: 'One more on top of all the others.',
      }),
  },
]

/**
 * Does an app become slower as it fills? What counts is the throughput in an app with a million messages against one
 * with a thousand.
 */
export const deep: Scenario = {
  name: 'deep',
  question: 'Is an app with a million messages as fast as one with a thousand?',
  figure: 'requests a second in the large app ÷ in the small one',
  needs: {
    small: { rooms: 1, members: connections, messages: 1_000 },
    large: { rooms: 1, members: connections, messages: 1_000_000 },
  },

  async run(stage) {
    const rooms = { small: stage.rooms.small![0]!, large: stage.rooms.large![0]! }
    const steps = questions.flatMap(({ name, request }) =>
      (['small', 'large'] as const).map(size => () => {
        const requests = Array.from({ length: connections }, (_, at) => [request(rooms[size], at)])
        const described = { label: label(name, size), subject: size === 'small' ? 'baseline' : 'parley' } as const
        return measureExchange(
          { ...stage, seconds: stage.seconds / 2 },
          { ...described, unit: 'requests' },
          { connections: requests },
        )
      }),
    )
    const measurements = await measureRounds(stage, () => steps)
    const targets = questions.map(({ name }): Target => {
      const value = ratioOf(measurements, label(name, 'large'), label(name, 'small'))
      return { name: `${name}: a million ÷ a thousand`, value, bound: 'at least', limit: 0.8, unit: '×' }
    })
    return { measurements, targets }
  },
}

function label(question: string, size: 'small' | 'large'): string {
  return `${question}, ${size === 'small' ? '1,000' : '1,000,000'} messages`
}

function list(query: string): Question['request'] {
  return ({ app, members }, at) =>
    toRequest('GET', `/api/apps/${app}/messages?${query}`, members[at % members.length]!.token)
}
