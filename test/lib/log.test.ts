import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'

test('a line is JSON with time, level, facts and a sentence; what is below the level is not written', () => {
  const lines: string[] = []
  const log = createLog('warn', line => lines.push(line))

  log.info({ app: 1 }, 'Not this')
  log.warn({ app: 7n, circle: {} }, 'The mailbox is full')

  expect(lines).toHaveLength(1)
  expect(lines[0]!.endsWith('\n')).toBe(true)
  const line = JSON.parse(lines[0]!)
  expect(line).toMatchObject({ level: 'warn', app: 7, message: 'The mailbox is full' })
  expect(new Date(line.time).toISOString()).toBe(line.time)
})

test('an error is written with its causes, and without what a database error quotes of its rows', () => {
  const lines: string[] = []
  const log = createLog('error', line => lines.push(line))
  const cause = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (text)=(what ann wrote)' })

  log.error({ error: new Error('Not saved', { cause }) }, 'A request failed')

  const { error } = JSON.parse(lines[0]!)
  expect(error).toMatchObject({
    name: 'Error',
    message: 'Not saved',
    cause: { message: 'duplicate key', code: '23505' },
  })
  expect(error.stack).toContain('log.test.ts')
  expect(lines[0]).not.toContain('what ann wrote')
})

test('what cannot be written as JSON does not bring down what is logged', () => {
  const lines: string[] = []
  const circle: { self?: object } = {}
  circle.self = circle

  createLog('error', line => lines.push(line)).error({ circle }, 'A circle')

  expect(JSON.parse(lines[0]!)).toMatchObject({ message: 'A circle' })
})
