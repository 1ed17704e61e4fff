import { setTimeout as delay } from 'node:timers/promises'
import { createParley } from '../../../src/client/index.ts'
import { createFaultProxy } from '../../../src/client/testing/index.ts'
import { readArguments } from '../../../src/lib/process/arguments.ts'
import { Cluster } from '../../faults/cluster.ts'
import { drawFaults } from '../../faults/fault.ts'
import { Random } from '../../faults/random.ts'
import { createDirectory, programKey, startProgram } from '../../support/process.ts'
import type { World } from './scene.ts'
import { runTrial, Trial } from './trial.ts'

const usage = `npm run test:client -- [--seed 1] [--runs 200] [--together 8] [--nodes 1] [--only kill]

Drives clients against real servers through a network that fails, and compares what they show with what the servers say.

--seed      of the first run; each further one has the next
--runs      how many
--together  how many at a time
--nodes     with 3, three nodes, and what is done to all runs of a time: nodes are killed, paused and started again,
            PostgreSQL crashes and is replaced by a standby that is behind, Redis goes away
--only      with three nodes: faults with this in their name
`

interface Options {
  seed: number
  runs: number
  together: number
  only: string
}

/** How many faults are done while some runs are under way. */
const faultsOfWave = 3

const say = (line: string) => void process.stdout.write(`${line}\n`)

/** Counts runs, and says how far they are. */
class Tally {
  readonly #runs: number
  #done = 0
  #wrong = 0

  constructor(runs: number) {
    this.#runs = runs
  }

  get wrong(): number {
    return this.#wrong
  }

  add(faults: string[]): void {
    this.#done++
    if (faults.length > 0) this.#wrong++
    faults.forEach(say)
    if (this.#done % 100 === 0 || this.#done === this.#runs)
      say(`${new Date().toISOString()} ${this.#done} of ${this.#runs} runs, ${this.#wrong} with differences`)
  }
}

async function runOnOne({ seed, runs, together }: Options, tally: Tally): Promise<void> {
  const dir = createDirectory()
  const server = await startProgram(dir, { LOG_LEVEL: 'error', RATE_LIMIT_PER_MINUTE: '0', NOTIFY_SECONDS: '0' })
  const world = await toWorld(server.url, () => server.url)
  let next = seed
  const work = async () => {
    while (next < seed + runs) {
      const own = next++
      tally.add(await runTrial(world, own).catch((error: Error) => [`seed ${own}: ${error.stack}`]))
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  await server[Symbol.asyncDispose]()
  await dir[Symbol.asyncDispose]()
}

async function runOnThree({ seed, runs, together, only }: Options, tally: Tally): Promise<void> {
  const random = new Random(seed)
  const onDeath = (node: number, words: string) => say(`node ${node}: ${words}`)
  const cluster = await Cluster.start({ nodes: 3, rewrite: {}, onDeath })
  const url = () => random.pick(cluster.nodes).url
  const balancer = await createFaultProxy(url)
  try {
    const world = await toWorld(balancer.url, url)
    const faults = drawFaults(cluster, random, only)
    for (let first = seed; first < seed + runs; first += together) {
      const seeds = Array.from({ length: Math.min(together, seed + runs - first) }, (_, i) => first + i)
      const trials = await Promise.all(seeds.map(own => Trial.prepare(world, own)))
      let isOver = false
      const acting = trials.map(trial => trial.act({ isOver: () => isOver }))
      for (let left = faultsOfWave; left > 0; left--) {
        const { name, run } = faults.next().value
        say(`seeds ${first} to ${seeds.at(-1)}: ${name}`)
        await run(during => during())
        await delay(random.integer(0, 1_000))
      }
      isOver = true
      await Promise.all(acting)
      for (const found of await Promise.all(trials.map(trial => trial.judge()))) tally.add(found)
      await Promise.all(trials.map(trial => trial[Symbol.asyncDispose]()))
    }
  } finally {
    await balancer.close()
    await cluster.close()
  }
}

async function toWorld(address: string, url: () => string): Promise<World> {
  const admin = createParley({ url: address, token: programKey })
  const { id } = await admin.http.post('/api/agents', {
    body: { uid: 'assistant', name: 'Assistant', provider: 'builtin', model: 'echo' },
  })
  return { url, admin, agent: Number(id) }
}

if (import.meta.main) {
  const { values } = readArguments(
    {
      options: {
        seed: { type: 'string', default: '1' },
        runs: { type: 'string', default: '200' },
        together: { type: 'string', default: '8' },
        nodes: { type: 'string', default: '1' },
        only: { type: 'string', default: '' },
      },
    },
    usage,
  )
  const [seed, runs, together] = [values.seed, values.runs, values.together].map(Number) as [number, number, number]
  const tally = new Tally(runs)
  await (values.nodes === '3' ? runOnThree : runOnOne)({ seed, runs, together, only: values.only }, tally)
  process.exit(tally.wrong === 0 ? 0 : 1)
}
