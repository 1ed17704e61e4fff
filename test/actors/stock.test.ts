import { expect, test } from 'vitest'
import { Stock, usableMs } from '../../src/actors/stock.ts'

function createStock() {
  const clock = { nowMs: 0 }
  const stock = new Stock(() => clock.nowMs)
  const fill = () => stock.put({ numbers: [11, 12, 13, 14], atMs: 5 })
  return { clock, stock, fill }
}

test('numbers are taken once, in order, and only if there are enough above the rev', () => {
  const { stock, fill } = createStock()
  fill()
  expect(stock.take(1, 11)).toBeNull()
  expect(stock.take(5, 0)).toBeNull()
  expect(stock.take(3, 10)).toEqual({ numbers: [11, 12, 13], atMs: 5 })
  expect(stock.take(1, 10)).toEqual({ numbers: [14], atMs: 5 })
  expect(stock.take(1, 10)).toBeNull()
})

test('numbers that a commit could hardly use in time are not given', () => {
  const { clock, stock, fill } = createStock()
  fill()
  clock.nowMs = usableMs / 2
  expect(stock.take(1, 0)).not.toBeNull()
  clock.nowMs++
  expect(stock.take(1, 0)).toBeNull()
})

test('there are numbers for more than the largest commit of late takes', () => {
  const { stock } = createStock()
  expect(stock.toDraw(200)).toBeGreaterThan(200)
  expect(stock.toDraw(2)).toBeGreaterThan(180)
  for (let i = 0; i < 100; i++) stock.toDraw(2)
  expect(stock.toDraw(2)).toBeLessThan(40)
})

test('each time that somebody else has written, locks are asked for twice as long, up to 2 s', () => {
  const { clock, stock, fill } = createStock()
  const waits: number[] = []
  for (let i = 0; i < 8; i++) {
    stock.distrust()
    const fromMs = clock.nowMs
    for (fill(); stock.take(1, 0) === null; fill()) clock.nowMs++
    waits.push(clock.nowMs - fromMs)
  }
  expect(waits).toEqual([50, 100, 200, 400, 800, 1_600, 2_000, 2_000])

  stock.trust()
  stock.distrust()
  clock.nowMs += 50
  fill()
  expect(stock.take(1, 0)).not.toBeNull()
})
