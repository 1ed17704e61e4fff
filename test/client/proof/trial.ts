import { setTimeout as delay } from 'node:timers/promises'
import { createParley } from '../../../src/client/index.ts'
import { findDifferences, findPersonalDifferences } from '../../../src/client/testing/index.ts'
import { Random } from '../../faults/random.ts'
import { act } from './actions.ts'
import { comparedOf, itemsOf, makeScene, tokenOf, type Device, type Scene, type World } from './scene.ts'

/** How long differences may take to go away, once all is quiet. */
const quietMs = 60_000

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

  /** Everybody does something, until `isOver` or for some steps, at most as many as given. */
  async act({ steps = 30, isOver }: { steps?: number; isOver?: () => boolean } = {}): Promise<void> {
    const random = this.#random
    const { network } = this.#scene
    const acting: Promise<void>[] = []
    for (let left = random.integer(5, steps); isOver === undefined ? left > 0 : !isOver(); left--) {
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
    await settle(() => this.#isQuiet(phone) && this.#isQuiet(laptop))
    const faults = [
      ...(await findLasting(() => this.#compare())),
      ...phone.witness.judge([laptop.witness]),
      ...laptop.witness.judge([phone.witness]),
    ]
    return faults.map(fault => `seed ${this.seed}: ${fault}`)
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

  /** Both devices with the same answers. */
  async #compare(): Promise<string[]> {
    const { phone, laptop, places, ann } = this.#scene
    const token = () => tokenOf(this.#world.admin, ann)
    const teller = createParley({ url: this.#world.url(), token, fetch: askOnce() })
    const differences: string[] = []
    for (const [name, { parley }] of Object.entries({ phone, laptop })) {
      for (const place of places) {
        const found = await findDifferences(parley.app(place.id), teller.http, comparedOf(place))
        differences.push(...found.map(difference => `${name}, ${place.kind} ${place.id}: ${difference}`))
      }
      const found = await findPersonalDifferences(parley, teller.http)
      differences.push(...found.map(difference => `${name}: ${difference}`))
    }
    teller.close()
    return differences
  }

  async #endTokens(): Promise<void> {
    const path = { user: this.#scene.ann }
    await this.#world.admin.http.delete('/api/users/{user}/tokens', { path }).catch(() => {})
  }
}

/** A run by itself, of some rounds with the same people. */
export async function runTrial(world: World, seed: number, { steps = 30, rounds = 1 } = {}): Promise<string[]> {
  const trial = await Trial.prepare(world, seed)
  const faults: string[] = []
  try {
    for (let left = rounds; left > 0 && faults.length === 0; left--) {
      await trial.act({ steps })
      faults.push(...(await trial.judge()))
    }
    return faults
  } finally {
    await trial[Symbol.asyncDispose]()
  }
}

/** The same question has the same answer. */
function askOnce(): typeof fetch {
  const answers = new Map<string, Promise<[string, ResponseInit]>>()
  const ask = async (url: string, init: RequestInit | undefined): Promise<[string, ResponseInit]> => {
    const response = await fetch(url, init)
    return [await response.text(), { status: response.status, headers: response.headers }]
  }
  return async (url, init) => {
    const address = String(url as string)
    const answer = answers.get(address) ?? ask(address, init)
    answers.set(address, answer)
    const [text, head] = await answer
    return new Response(text, head)
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

/** Differences that do not go away. What is gathered before it is sent takes a moment. */
async function findLasting(find: () => Promise<string[]>): Promise<string[]> {
  const deadline = performance.now() + quietMs
  for (let pauseMs = 600; ; pauseMs = Math.min(pauseMs * 1.5, 3_000)) {
    await delay(pauseMs)
    const differences = await find().catch((error: Error) => [String(error.stack)])
    if (differences.length === 0 || performance.now() > deadline) return differences
  }
}
