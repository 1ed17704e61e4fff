import { expect, test } from 'vitest'
import { createParley } from '../../src/client/index.ts'
import { startServer } from '../support/server.ts'
import { runTrial } from './proof/trial.ts'

/** As many as take about a minute. More are run by hand: npm run test:client. */
const runs = 200

test('whatever becomes of the network and its tokens, a client shows what the server says, and no row twice', async () => {
  await using server = await startServer({ RATE_LIMIT_PER_MINUTE: '0' })
  const admin = createParley({ url: server.url, token: server.key })
  const world = { url: () => server.url, admin }
  const faults: string[] = []
  let seed = 1_000
  const work = async () => {
    while (seed < 1_000 + runs) {
      const outcome = await runTrial(world, seed++)
      faults.push(...outcome.faults.map(fault => `seed ${outcome.seed}: ${fault}`))
    }
  }

  await Promise.all(Array.from({ length: 10 }, work))

  expect(faults).toEqual([])
}, 600_000)
