import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { toText } from '../../src/lib/log-text.ts'

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

/** What a terminal shows of entries. */
function shownOf(write: (log: ReturnType<typeof createLog>) => void, isColored = false): string {
  let shown = ''
  write(createLog('debug', line => (shown += toText(line, isColored))))
  return shown
}

test('on a terminal an entry is one line for people: time, level, sentence, facts', () => {
  const shown = shownOf(log =>
    log.warn({ path: '/data/secret.key', name: 'Ann Park', waitedMs: 7, list: [1] }, 'It waits'),
  )

  expect(shown).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN  It waits path=\/data\/secret.key name="Ann Park" waitedMs=7 list=\[1\]\n$/,
  )
})

test('an error has its stack below the line, and that of its cause', () => {
  const shown = shownOf(log =>
    log.error({ error: new Error('Not saved', { cause: new TypeError('gone') }) }, 'It failed'),
  )

  expect(shown).toMatch(/ERROR It failed\n {4}Error: Not saved\n +at .*log\.test\.ts/)
  expect(shown).toMatch(/\n {4}caused by TypeError: gone\n +at /)
})

test('colours are for terminals that have them, and what is logged cannot add any', () => {
  const write = (log: ReturnType<typeof createLog>) => log.info({ name: 'a\u001b[31mb\u009bc\u202ed' }, 'A\u001b[2Jb')

  const [plain, colored] = [shownOf(write), shownOf(write, true)]
  for (const control of ['\u001b', '\u009b', '\u202e']) expect(plain).not.toContain(control)
  expect(colored).toContain('\u001b[32mINFO ')
  for (const given of ['\u001b[31m', '\u001b[2J', '\u202e']) expect(colored).not.toContain(given)
})
