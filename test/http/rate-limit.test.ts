import { expect, test } from 'vitest'
import { RateLimit } from '../../src/http/request/rate-limit.ts'

test('a minute has room for its requests at once, and then they come at a steady pace', () => {
  let now = 0
  const limit = new RateLimit(60, () => now)
  for (let i = 0; i < 60; i++) limit.take('ann')

  expect(() => limit.take('ann')).toThrow('Too many requests')
  now += 999
  expect(() => limit.take('ann')).toThrow('Too many requests')
  now += 1
  limit.take('ann')
  expect(() => limit.take('ann')).toThrow('Too many requests')
})

test('one caller does not use up what another one has', () => {
  const limit = new RateLimit(1, () => 0)
  limit.take('ann')

  limit.take('ben')

  expect(() => limit.take('ann')).toThrow('Too many requests')
})

test('a refusal says after how many seconds there is room again', () => {
  const limit = new RateLimit(6, () => 0)
  for (let i = 0; i < 6; i++) limit.take('ann')

  expect(() => limit.take('ann')).toThrow(expect.objectContaining({ status: 429, facts: { retry_after: 10 } }))
})

test('a clock that is set back gives nothing and takes nothing', () => {
  let now = 60_000
  const limit = new RateLimit(2, () => now)
  limit.take('ann')
  now = 0

  limit.take('ann')

  expect(() => limit.take('ann')).toThrow('Too many requests')
})
