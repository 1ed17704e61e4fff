import { expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { createDirectory } from '../support/process.ts'
import { findFaults, runTrial } from './trial.ts'

// A short part of what `npm run test:kills` does.

test('whatever an agent is doing when its node is killed, each question is answered exactly once', async () => {
  await using database = await createDatabase()
  await using dir = createDirectory()
  // What the dead node held is free at once, as if its time had passed.
  const onKill = async () => {
    await database.sql`update agent_runs set leased_until = now() where state = 'running'`
  }

  const environment = { DATABASE_URL: database.url }
  const asked = await runTrial({ seed: 1, kills: 3, dir, environment, onKill, say: () => {} })

  expect(asked.length).toBeGreaterThan(8)
  expect(findFaults(asked)).toEqual([])
  // Some were hit, or this says nothing.
  expect(asked.filter(({ attempts }) => attempts > 0)).not.toEqual([])
}, 180_000)
