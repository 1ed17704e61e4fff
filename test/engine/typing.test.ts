import { expect, test } from 'vitest'
import type { AppEvent } from '../../src/engine/event.ts'
import { Typing } from '../../src/engine/typing.ts'
import { ManualClock } from '../support/manual-clock.ts'

function observe() {
  const clock = new ManualClock()
  const typing = new Typing(clock)
  const told: string[] = []
  typing.onTyping((app, user, isTyping) => told.push(`${user} in ${app}: ${isTyping}`))
  return { clock, typing, told }
}

const written = (app_id: number, actor_id: number, isActivity: boolean) => [
  { kind: { isActivity: isActivity }, app_id, actor_id } as AppEvent,
]

test('typing is forgotten after five seconds', () => {
  const { clock, typing, told } = observe()

  typing.start(1, 7)
  clock.advance(4_999)
  expect(typing.in(1)).toEqual([7])
  clock.advance(1)

  expect(typing.in(1)).toEqual([])
  expect(told).toEqual(['7 in 1: true', '7 in 1: false'])
})

test('typing lasts as long as it is repeated', () => {
  const { clock, typing, told } = observe()

  for (let i = 0; i < 10; i++) {
    typing.start(1, 7)
    clock.advance(2_000)
  }

  expect(typing.in(1)).toEqual([7])
  expect(told).toEqual(Array.from({ length: 10 }, () => '7 in 1: true'))
})

test('a client in a loop does not flood the others', () => {
  const { clock, typing, told } = observe()

  for (let i = 0; i < 1_000; i++) {
    typing.start(1, 7)
    clock.advance(1)
  }

  expect(told).toHaveLength(1)
})

test('whoever has written something types no longer; a reaction or a read marker ends nothing', () => {
  const { typing, told } = observe()
  typing.start(1, 7)
  typing.start(1, 8)

  typing.onCommit({ events: written(1, 8, false) })
  typing.onCommit({ events: written(2, 7, true) })
  typing.onCommit({ events: written(1, 7, true) })

  expect(typing.in(1)).toEqual([8])
  expect(told.at(-1)).toBe('7 in 1: false')
})

test('of many who type, each is forgotten in turn', () => {
  const { clock, typing } = observe()
  for (let user = 1; user <= 100; user++) {
    typing.start(1, user)
    clock.advance(10)
  }

  clock.advance(4_490)
  expect(typing.in(1)).toHaveLength(50)
  clock.advance(500)

  expect(typing.in(1)).toEqual([])
})
