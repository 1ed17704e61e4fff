import { expect, test } from 'vitest'
import { ClientOrigin } from '../../src/realtime/sessions/client-origins.ts'
import { PendingSession } from '../../src/realtime/sessions/pending-session.ts'
import { findCodec } from '../../src/realtime/protocols/protocol.ts'
import { Session } from '../../src/realtime/sessions/session.ts'
import { Ear } from '../support/stage.ts'

/** Somebody whose token is being looked up. */
function open(budget = { bytes: 0 }) {
  const codec = findCodec('json', 'number')!
  return new PendingSession(new Session(new Ear(), { codec, clientOrigin: new ClientOrigin('', 0) }, 0), budget)
}

const message = (bytes: number) => new ArrayBuffer(bytes)

test('what is sent meanwhile is handled once, as it was and in order', () => {
  const pending = open()
  // uWebSockets.js uses its memory again.
  const memory = new Uint8Array(1)
  for (const byte of [1, 2, 3]) {
    memory[0] = byte
    pending.hold(memory.buffer, byte === 2)
  }
  const heard: [number | undefined, boolean][] = []
  const hear = (bytes: ArrayBuffer, isBinary: boolean) => void heard.push([new Uint8Array(bytes)[0], isBinary])

  pending.release(hear)
  pending.release(hear)

  expect(heard).toEqual([
    [1, false],
    [2, true],
    [3, false],
  ])
})

test.each([
  ['64 KiB', [32 * 1024, 32 * 1024], 1],
  ['600 messages', Array.from({ length: 600 }, () => 1), 0],
])('more than %s is held of nobody', (_, sizes, further) => {
  const pending = open()
  for (const size of sizes) pending.hold(message(size), false)
  const before = pending.session.state.state
  pending.hold(message(further), false)
  let heard = 0
  pending.release(() => heard++)

  expect([before, pending.session.state.state]).toEqual(['opening', 'closed'])
  expect(heard).toBe(sizes.length)
})

test('of all together, no more than 64 MiB is held; who has come in, or is gone, makes room', () => {
  const budget = { bytes: 0 }
  const others = Array.from({ length: 1_024 }, () => open(budget))
  for (const pending of others) pending.hold(message(64 * 1024), false)
  const late = open(budget)
  late.hold(message(1), false)
  others[0]!.release()
  const later = open(budget)
  later.hold(message(64 * 1024), false)

  expect(others.every(({ session }) => !session.isClosed)).toBe(true)
  expect([late.session.isClosed, later.session.isClosed]).toEqual([true, false])
  for (const pending of [...others, late, later]) pending.release()
  expect(budget.bytes).toBe(0)
})
