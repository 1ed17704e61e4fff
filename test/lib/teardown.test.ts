import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { Teardown } from '../../src/lib/process/teardown.ts'

function open() {
  const lines: string[] = []
  const ended: string[] = []
  const teardown = new Teardown(createLog('warn', line => lines.push(JSON.parse(line).step)))
  return { teardown, ended, complaints: lines }
}

test('what was started last is ended first, each when the one before has come to its end', async () => {
  const { teardown, ended, complaints } = open()
  const allowances: number[] = []
  for (const name of ['first', 'second', 'third']) {
    teardown.add(name, async deadlineMs => {
      allowances.push(deadlineMs)
      ended.push(`${name} begins`)
      await new Promise(setImmediate)
      ended.push(`${name} ends`)
    })
  }

  await teardown.run(10_000)

  expect(ended).toEqual(['third', 'second', 'first'].flatMap(name => [`${name} begins`, `${name} ends`]))
  expect(complaints).toEqual([])
  // 60 % of what is left, which is nearly all.
  expect(Math.min(...allowances)).toBeGreaterThan(5_000)
  expect(Math.max(...allowances)).toBeLessThanOrEqual(6_000)
})

test('what fails or never ends keeps nothing else from its end, and is named', async () => {
  const { teardown, ended, complaints } = open()
  const allowances: number[] = []
  teardown.add('quick', deadlineMs => {
    allowances.push(deadlineMs)
    ended.push('quick')
  })
  teardown.add('stuck', deadlineMs => {
    allowances.push(deadlineMs)
    return new Promise(() => {})
  })
  teardown.add('rejecting', () => Promise.reject(new Error('no')))
  teardown.add('throwing', () => {
    throw new Error('no')
  })
  const startedAt = performance.now()

  await teardown.run(500)

  expect(ended).toEqual(['quick'])
  expect(complaints).toEqual(['throwing', 'rejecting', 'stuck'])
  // 60 % of what was left each time.
  expect(allowances[0]).toBeLessThanOrEqual(300)
  expect(allowances[1]).toBeLessThanOrEqual(120)
  expect(performance.now() - startedAt).toBeLessThan(500)
})

test('who asks a second time waits for the first, and nothing is ended twice', async () => {
  const { teardown, ended } = open()
  const gate = Promise.withResolvers<void>()
  teardown.add('slow', async () => {
    await gate.promise
    ended.push('slow')
  })

  void teardown.run(10_000)
  const second = teardown.run(10_000).then(() => ended.push('second'))
  await new Promise(setImmediate)
  gate.resolve()
  await second

  expect(ended).toEqual(['slow', 'second'])
})
