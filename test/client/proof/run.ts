import { setTimeout as delay } from 'node:timers/promises'
import { createParley } from '../../../src/client/index.ts'
import { createFaultProxy } from '../../../src/client/testing/index.ts'
import { readArguments } from '../../../src/lib/process/arguments.ts'
import { Cluster } from '../../faults/cluster.ts'
import { Random } from '../../faults/random.ts'
import { createDirectory, programKey, startProgram } from '../../support/process.ts'
import { runTrial, type World } from './trial.ts'

const usage = `npm run test:client -- [--seed 1] [--runs 200] [--together 4] [--nodes 1]

Drives clients against real servers through a network that fails, and compares what they show with what the servers say.

--seed      of the first run; each further one has the next
--runs      how many
--together  how many at a time
--nodes     with 3, three nodes, of which one after the other is ended with SIGKILL and started again
`

/** How long all nodes are there between two kills. */
const quietMs = 3_000

async function startOne(): Promise<World & AsyncDisposable> {
  const dir = createDirectory()
  const server = await startProgram(dir, { LOG_LEVEL: 'error', RATE_LIMIT_PER_MINUTE: '0' })
  const admin = createParley({ url: server.url, token: programKey })
  return {
    url: () => server.url,
    admin,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await dir[Symbol.asyncDispose]()
    },
  }
}

async function startThree(seed: number): Promise<World & AsyncDisposable> {
  const random = new Random(seed)
  const onDeath = (node: number, words: string) => process.stdout.write(`node ${node}: ${words}\n`)
  const cluster = await Cluster.start({ nodes: 3, rewrite: {}, onDeath })
  const { nodes } = cluster
  let dead = nodes[0]!
  const url = () => random.pick(nodes.filter(node => node !== dead)).url
  const balancer = await createFaultProxy(url)
  const over = new AbortController()
  const killing = (async () => {
    while (!over.signal.aborted) {
      dead = random.pick(nodes)
      await dead.end('SIGKILL')
      await dead.start()
      await delay(quietMs, undefined, { signal: over.signal }).catch(() => {})
    }
  })()
  return {
    url,
    admin: createParley({ url: balancer.url, token: programKey }),
    async [Symbol.asyncDispose]() {
      over.abort()
      await killing
      await balancer.close()
      await cluster.close()
    },
  }
}

if (import.meta.main) {
  const { values } = readArguments(
    {
      options: {
        seed: { type: 'string', default: '1' },
        runs: { type: 'string', default: '200' },
        together: { type: 'string', default: '4' },
        nodes: { type: 'string', default: '1' },
      },
    },
    usage,
  )
  const [first, runs, together] = [values.seed, values.runs, values.together].map(Number) as [number, number, number]
  const world = values.nodes === '3' ? await startThree(first) : await startOne()
  let next = first
  let wrong = 0
  const work = async () => {
    while (next < first + runs) {
      const seed = next++
      const { faults } = await runTrial(world, seed).catch((error: Error) => ({ faults: [error.stack!] }))
      if (faults.length > 0) wrong++
      for (const fault of faults) process.stdout.write(`seed ${seed}: ${fault}\n`)
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  await world[Symbol.asyncDispose]()
  process.stdout.write(`${runs} runs from seed ${first}: ${wrong} with differences\n`)
  process.exit(wrong === 0 ? 0 : 1)
}
