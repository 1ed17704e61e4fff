import { setTimeout as delay } from 'node:timers/promises'
import { findDifferences, findPersonalDifferences } from '../../../src/client/testing/index.ts'
import { Random } from '../../faults/random.ts'
import { act } from './actions.ts'
import { comparedOf, itemsOf, makeScene, type Device, type Scene, type World } from './scene.ts'

/** How long differences may take to go away, once all is quiet. */
const quietMs = Number(process.env.QUIET ?? 60_000)

/**
 * A run: apps, two clients of a user, one of which is behind a network that fails, and others who write. Once all is
 * quiet, each client has to show what the server says; at every step, what it shows has to make sense.
 */
export class Trial {
  readonly seed: number
  readonly #world: World
  readonly #random: Random
  readonly #scene: Scene

  private constructor(seed: number, world: World, random: Random, scene: Scene) {
    this.seed = seed
    this.#world = world
    this.#random = random
    this.#scene = scene
  }

  static async prepare(world: World, seed: number): Promise<Trial> {
    const random = new Random(seed)
    return new Trial(seed, world, random, await makeScene(world, random))
  }

  /** Everybody does something, until `isOver` or for some steps. */
  async act(isOver?: () => boolean): Promise<void> {
    const random = this.#random
    const { network } = this.#scene
    const acting: Promise<void>[] = []
    for (let left = random.integer(10, 30); isOver === undefined ? left > 0 : !isOver(); left--) {
      const kind = random.next()
      if (kind < 0.75) acting.push(act(this.#scene, this.#world, random))
      else if (kind < 0.85) network.cut()
      else if (kind < 0.9) await whileBroken(() => network.silence(), network.restore, random.integer(10, 200))
      else if (kind < 0.95) await whileBroken(() => network.lose(), network.restore, random.integer(10, 400))
      else acting.push(this.#endTokens())
      await delay(isOver === undefined ? random.integer(0, 25) : random.integer(0, 400))
    }
    network.restore()
    await Promise.all(acting)
  }

  /** What is wrong; no words where nothing is. */
  async judge(): Promise<string[]> {
    const { phone, laptop } = this.#scene
    const faults: string[] = []
    for (const device of [phone, laptop]) {
      await settle(() => this.#isQuiet(device))
      faults.push(...(await findLasting(() => this.#compare(device))))
    }
    return [...faults, ...phone.witness.judge([laptop.witness]), ...laptop.witness.judge([phone.witness])].map(
      fault => `seed ${this.seed}: ${fault}`,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scene[Symbol.asyncDispose]()
  }

  #isQuiet({ parley }: Device): boolean {
    return this.#scene.places
      .flatMap(place => itemsOf(parley.app(place.id), place))
      .every(items => {
        const { status, data } = items.get()
        return status === 'live' && (data as readonly { state: string }[]).every(({ state }) => state === 'settled')
      })
  }

  async #compare({ parley }: Device): Promise<string[]> {
    const differences: string[] = []
    for (const place of this.#scene.places) {
      const found = await findDifferences(parley.app(place.id), parley.http, comparedOf(place))
      differences.push(...found.map(difference => `${place.kind} ${place.id}: ${difference}`))
    }
    return [...differences, ...(await findPersonalDifferences(parley))]
  }

  async #endTokens(): Promise<void> {
    const path = { user: this.#scene.ann }
    await this.#world.admin.http.delete('/api/users/{user}/tokens', { path }).catch(() => {})
  }
}

/** One run, by itself. */
export async function runTrial(world: World, seed: number): Promise<string[]> {
  const trial = await Trial.prepare(world, seed)
  try {
    await trial.act()
    return await trial.judge()
  } finally {
    await trial[Symbol.asyncDispose]()
  }
}

async function whileBroken(begin: () => void, end: () => void, ms: number): Promise<void> {
  begin()
  await delay(ms)
  end()
}

async function settle(isQuiet: () => boolean): Promise<void> {
  const deadline = performance.now() + quietMs
  while (!isQuiet() && performance.now() < deadline) await delay(20)
}

/** Differences that do not go away. */
async function findLasting(find: () => Promise<string[]>): Promise<string[]> {
  const deadline = performance.now() + quietMs
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
    const differences = await find().catch((error: Error) => [String(error.stack)])
    if (differences.length === 0 || performance.now() > deadline) return differences
    await delay(pauseMs)
  }
}
