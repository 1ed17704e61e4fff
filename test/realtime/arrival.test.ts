import { expect, test } from 'vitest'
import { Address } from '../../src/realtime/addresses.ts'
import { Arrival, Lobby } from '../../src/realtime/arrival.ts'
import { findForm } from '../../src/realtime/protocol.ts'
import { Session } from '../../src/realtime/session.ts'
import { Ear } from '../support/stage.ts'

/** Somebody whose token is being looked up. */
function open(lobby = new Lobby()) {
  const form = findForm('json', 'number')!
  return new Arrival(new Session(new Ear(), { form, address: new Address('', 0) }, 0), lobby)
}

const message = (bytes: number) => new ArrayBuffer(bytes)

test('what is said meanwhile is heard once, as it was and in order', () => {
  const arrival = open()
  // uWebSockets.js uses its memory again.
  const memory = new Uint8Array(1)
  for (const byte of [1, 2, 3]) {
    memory[0] = byte
    arrival.hold(memory.buffer, byte === 2)
  }
  const heard: [number | undefined, boolean][] = []
  const hear = (bytes: ArrayBuffer, isBinary: boolean) => void heard.push([new Uint8Array(bytes)[0], isBinary])

  arrival.release(hear)
  arrival.release(hear)

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
  const arrival = open()
  for (const size of sizes) arrival.hold(message(size), false)
  const before = arrival.session.state.state
  arrival.hold(message(further), false)
  let heard = 0
  arrival.release(() => heard++)

  expect([before, arrival.session.state.state]).toEqual(['opening', 'closed'])
  expect(heard).toBe(sizes.length)
})

test('of all together, no more than 64 MiB is held; who has come in, or is gone, makes room', () => {
  const lobby = new Lobby()
  const others = Array.from({ length: 1_024 }, () => open(lobby))
  for (const arrival of others) arrival.hold(message(64 * 1024), false)
  const late = open(lobby)
  late.hold(message(1), false)
  others[0]!.release()
  const later = open(lobby)
  later.hold(message(64 * 1024), false)

  expect(others.every(({ session }) => !session.isClosed)).toBe(true)
  expect([late.session.isClosed, later.session.isClosed]).toEqual([true, false])
  for (const arrival of [...others, late, later]) arrival.release()
  expect(lobby.bytes).toBe(0)
})
