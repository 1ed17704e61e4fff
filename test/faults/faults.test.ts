import { expect, test } from 'vitest'
import { redisIsMissing } from '../support/redis.ts'
import { check } from './checker.ts'
import { skippingReplays, withoutKeys } from './mutants.ts'
import { tell } from './story.ts'
import { runTrial, type TrialOptions } from './trial.ts'

// A short part of what `npm run test:faults` does; see docs/faults.md.

const isSkipped = redisIsMissing !== null

/** Longer than a run may take on a machine that does much else. */
const timeout = 180_000

/** Messages that are to be there at the least: fewer say nothing. */
const leastMessages = 20

async function findBroken(options: Omit<TrialOptions, 'say' | 'minutes' | 'pauseMs'>) {
  const { history, deaths } = await runTrial({ ...options, minutes: 0.5, pauseMs: 30, say: () => {} })
  expect(history.end.messages.length).toBeGreaterThan(leastMessages)
  const violations = check(history)
  const rules = new Set(violations.map(({ rule }) => rule))
  return { rules, stories: violations.map(violation => tell(violation, history)), deaths }
}

test.skipIf(isSkipped)(
  'nodes, PostgreSQL, Redis and connections that fail cost nobody what was acknowledged, nor an event',
  async () => {
    const { stories, deaths } = await findBroken({ seed: 1, faults: 5 })

    expect(stories).toEqual([])
    expect(deaths).toEqual([])
  },
  timeout,
)

test.skipIf(isSkipped)(
  'a server that ignores idempotency keys, and whose replays skip an event, would be found',
  async () => {
    const rewrite = { ...withoutKeys, ...skippingReplays }

    const { rules } = await findBroken({ seed: 2, faults: 3, only: 'cut clients', rewrite })

    expect(rules).toContain('no write is doubled')
    expect(rules).toContain('repetitions are answered with the same item')
    expect(rules).toContain('subscribers miss nothing')
  },
  timeout,
)
