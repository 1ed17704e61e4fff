import { expect, test } from 'vitest'
import type { Principal } from '../../src/auth/principal.ts'
import { Problem } from '../../src/lib/errors.ts'
import { Admission } from '../../src/realtime/sessions/admission.ts'
import { ClientOrigin, ClientOrigins } from '../../src/realtime/sessions/client-origins.ts'
import { findCodec } from '../../src/realtime/protocols/protocol.ts'
import { Session } from '../../src/realtime/sessions/session.ts'
import { Sessions } from '../../src/realtime/sessions/sessions.ts'
import { realtimeDefaults } from '../../src/realtime/settings.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { Ear } from '../support/stage.ts'

const ann: Principal = { kind: 'user', user: 1, credential: '' }

/** The door to a node on which at most two may have said nothing yet. */
function openDoor() {
  const clock = new ManualClock()
  const ends = { at: clock.now() + 1_000 }
  const clientOrigins = new ClientOrigins(() => '')
  const sessions = new Sessions({
    clock,
    presence: { arrive() {}, leave() {} },
    clientOrigins,
    totalBacklogBytes: 1_000,
  })
  const admission = new Admission({
    authenticate: () => ann,
    credentials: { expiryOf: () => ends.at },
    sessions,
    settings: { ...realtimeDefaults, sessions: 100, unauthenticatedSessions: 2, userSessions: 100 },
    clock,
  })
  const connect = () => {
    const session = new Session(
      new Ear(),
      { codec: findCodec('json', 'number')!, clientOrigin: new ClientOrigin('', 0) },
      clock.now() + 1_000,
    )
    sessions.add(session)
    return session
  }
  return { clock, ends, sessions, admission, connect }
}

/** The status with which somebody is refused; 200 where they are let in. */
function statusOf(attempt: () => unknown): number {
  try {
    attempt()
    return 200
  } catch (error) {
    return (error as Problem).status
  }
}

test('a node has limited room for connections that do not say whose they are', () => {
  const { ends, sessions, admission, connect } = openDoor()
  const statuses = () => [true, false].map(isStranger => statusOf(() => admission.requireCapacity(isStranger)))
  const [first] = [connect(), connect()]

  const full = statuses()
  sessions.open(first!, ann, ends.at)

  expect(full).toEqual([503, 200])
  expect(statuses()).toEqual([200, 200])
})

test('a token that ends while its session is being opened opens none', () => {
  const { clock, ends, admission } = openDoor()
  const admit = () => statusOf(() => admission.admit(ann))

  const inTime = admit()
  clock.advance(1_000)
  const late = admit()
  // As of a token that was revoked.
  ends.at = 0

  expect([inTime, late, admit()]).toEqual([200, 401, 401])
})

test('a node that stops lets nobody in, however much room it has', () => {
  const { admission } = openDoor()
  const before = statusOf(() => admission.requireCapacity(false))

  admission.close()

  expect([before, statusOf(() => admission.requireCapacity(false))]).toEqual([200, 503])
})
