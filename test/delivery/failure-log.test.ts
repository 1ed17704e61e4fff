import { expect, test } from 'vitest'
import { FailureLog } from '../../src/resources/webhooks/delivery/failure-log.ts'
import type { Outcome } from '../../src/resources/webhooks/delivery/store.ts'
import { createLog } from '../../src/lib/log.ts'
import { ManualClock } from '../support/manual-clock.ts'

const failure: Outcome = {
  status: 'failure',
  delivered_at: new Date(0),
  duration_ms: 12.3,
  status_code: 500,
  body: '{"text":"what people wrote"}',
  request: { url: 'https://example.com/secret-path', method: 'POST', headers: { 'X-Service-Delivery': 'a-guid' } },
  response: { status_code: 500, body: 'what the receiver wrote' },
}

test('the log tells of the first failed delivery of a webhook at once, and then of how many there were', () => {
  const lines: string[] = []
  const clock = new ManualClock()
  const failures = new FailureLog(
    createLog('warn', line => lines.push(line)),
    clock,
  )

  for (let i = 0; i < 100; i++) failures.report(1, failure)
  failures.report(2, failure)
  clock.advance(10_000)
  failures.report(1, failure)

  const told = lines.map(line => JSON.parse(line))
  expect(told).toMatchObject([
    { webhook: 1, delivery: 'a-guid', code: 500, failures: 1 },
    { webhook: 2, failures: 1 },
    { webhook: 1, failures: 100 },
  ])
  expect(lines.join('')).not.toMatch(/wrote|secret-path/)
})
