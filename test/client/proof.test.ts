import { expect, test } from 'vitest'
import { createParley } from '../../src/client/index.ts'
import { makeAgent } from '../support/agents.ts'
import { startServer } from '../support/server.ts'
import { runTrial } from './proof/trial.ts'

const runs = Number(process.env.RUNS ?? 200)

test('whatever becomes of the network and its tokens, a client shows what the server says, and no row twice', async () => {
  await using server = await startServer({ RATE_LIMIT_PER_MINUTE: '0' })
  const admin = createParley({ url: server.url, token: server.key })
  const world = { url: () => server.url, admin, agent: Number(await makeAgent(server)) }
  const faults: string[] = []
  const first = Number(process.env.SEED ?? 1_000)
  let seed = first
  const work = async () => {
    while (seed < first + runs) faults.push(...(await runTrial(world, seed++)))
  }

  await Promise.all(Array.from({ length: 10 }, work))

  expect(faults).toEqual([])
}, 600_000)
