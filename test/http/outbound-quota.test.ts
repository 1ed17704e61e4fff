import { expect, test } from 'vitest'
import type { Principal } from '../../src/auth/principal.ts'
import { Problem } from '../../src/lib/errors.ts'
import { OutboundQuota } from '../../src/http/request/outbound-quota.ts'

const ann: Principal = { kind: 'user', user: 1, credential: '' }
const ben: Principal = { kind: 'user', user: 2, credential: '' }
const key: Principal = { kind: 'key', user: 0, credential: '' }

const open = ({ perMinute = 100, atOnce = 100 }) => new OutboundQuota({ perMinute, atOnce, now: () => 0 })

/** What comes of some work; a refusal's status. */
const outcomeOf = <Result>(work: Promise<Result>) =>
  work.catch((error: unknown) => (error instanceof Problem ? error.status : error))

test('beyond what may go out at one time, others are refused until one has come back', async () => {
  const outboundQuota = open({ atOnce: 2 })
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  const away = [outboundQuota.run(ann, () => first.promise), outboundQuota.run(key, () => second.promise)]

  const refused = await Promise.all([ann, ben, key].map(by => outcomeOf(outboundQuota.run(by, async () => 'done'))))
  first.resolve('first')
  await away[0]
  const next = await outcomeOf(outboundQuota.run(ben, async () => 'next'))
  second.resolve('second')

  expect([refused, next, await Promise.all(away)]).toEqual([[503, 503, 503], 'next', ['first', 'second']])
})

test('what fails makes room for others, too', async () => {
  const outboundQuota = open({ atOnce: 1 })
  const failure = new Error('no')

  const outcomes: unknown[] = []
  for (let i = 0; i < 3; i++) outcomes.push(await outcomeOf(outboundQuota.run(ann, () => Promise.reject(failure))))

  expect(outcomes).toEqual([failure, failure, failure])
})

test('each user may send so much a minute, and API keys as much as they like', async () => {
  const outboundQuota = open({ perMinute: 2 })
  const by = [ann, ann, ann, ben, key, key, key]

  const outcomes: unknown[] = []
  for (const one of by) outcomes.push(await outcomeOf(outboundQuota.run(one, async () => 200)))

  expect(outcomes).toEqual([200, 200, 429, 200, 200, 200, 200])
})
