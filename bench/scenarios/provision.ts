import { figureOf, type Measurement, type Target } from '../figures.ts'
import { toRequest } from '../load/http-connection.ts'
import { numberHole } from '../load/requests.ts'
import { measureExchange } from '../measure.ts'
import { insert, Pgbench } from '../pgbench.ts'
import { measureRounds } from '../rounds.ts'
import type { Scenario, Stage } from '../stage.ts'
import { smallRooms } from '../traffic.ts'

const connections = 64
const users = `Parley, users with a token, ${connections} connections`
const apps = `Parley, apps of ten, ${connections} connections`
const membersOfApp = 10

/** So many users with a token a second are asked for, or this share of what pgbench inserts where that is less. */
const usersPerSecond = 2_000
const shareOfInserts = 0.2

/**
 * How soon is a whole company there? A product that introduces Parley makes its people and their rooms at once. What
 * counts is how many a second, beside single-row inserts by pgbench.
 */
export const provision: Scenario = {
  name: 'provision',
  question: 'How many users with a token each, and apps of ten people, can be made a second?',
  figure: 'users with a token, and apps, a second',
  needs: { rooms: smallRooms },

  async run(stage) {
    const pgbench = await Pgbench.find(stage.parley)
    const measurements = await measureRounds(stage, round => [
      () => insert(stage, pgbench, 64),
      () => makeUsers(stage, round),
      () => insert(stage, pgbench, 16),
      () => makeApps(stage),
    ])
    pgbench?.stop()
    return { measurements, targets: toTargets(measurements) }
  },
}

function makeUsers(stage: Stage, round: number): Promise<Measurement> {
  const described = { label: users, subject: 'parley', unit: 'users' } as const
  const { key } = stage.parley
  const run = `made-${process.hrtime.bigint()}-${round}`
  const uid = `${run}-${numberHole}`
  const requests = [
    toRequest('POST', '/api/users', key, { uid, name: `Person ${numberHole}` }),
    toRequest('POST', `/api/users/${uid}/tokens`, key, { expires_in: 86_400 }),
  ]
  return measureExchange(stage, described, {
    connections: Array.from({ length: connections }, () => requests),
    requestsPerOperation: requests.length,
  })
}

function makeApps(stage: Stage): Promise<Measurement> {
  const described = { label: apps, subject: 'parley', unit: 'apps' } as const
  const { key } = stage.parley
  const people = stage.rooms.rooms!.flatMap(({ members }) => members).map(({ id }) => Number(id))
  const requests = Array.from({ length: connections }, (_, connection) => {
    // Steps of seven, so that two apps seldom have the same ten.
    const members = Array.from({ length: membersOfApp }, (_, at) => people[(connection * 7 + at * 11) % people.length])
    return [toRequest('POST', '/api/apps', key, { type: 'chat_room', name: `Made ${connection}`, members })]
  })
  return measureExchange(stage, described, { connections: requests })
}

function toTargets(measurements: Measurement[]): Target[] {
  const inserts = measurements.filter(({ subject }) => subject === 'baseline').map(({ perSecond }) => perSecond!)
  const asked = Math.min(usersPerSecond, inserts.length === 0 ? Infinity : shareOfInserts * Math.max(...inserts))
  return [
    {
      name: `users with a token a second (${usersPerSecond}, or ${shareOfInserts} of what pgbench inserts)`,
      value: figureOf(measurements, users),
      bound: 'at least',
      limit: Math.round(asked),
      unit: '',
    },
    { name: 'apps of ten a second', value: figureOf(measurements, apps), bound: 'at least', limit: 1_500, unit: '' },
  ]
}
