import { setTimeout as delay } from 'node:timers/promises'
import type { Call, Verb } from './history.ts'
import type { FaultyNode } from './node.ts'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'
import type { Person, World } from './world.ts'

export interface WriterOptions {
  person: Person
  world: World
  nodes: readonly FaultyNode[]
  recorder: Recorder
  random: Random
  /** Between two wishes, on average. */
  pauseMs: number
  signal: AbortSignal
}

/** Without an answer by then, a client asks elsewhere. Longer than a node without PostgreSQL takes to say 503. */
const patienceMs = 4_000

/** A wish that no node grants within this time after the faults have ended is given up. */
const graceMs = 30_000

/** Of a hundred wishes; the rest are sends. */
const shares: readonly { verb: Verb; percent: number }[] = [
  { verb: 'mark', percent: 12 },
  { verb: 'edit', percent: 8 },
  { verb: 'trash', percent: 3 },
  { verb: 'read', percent: 15 },
]

interface Wish {
  verb: Verb
  key: string
  app: number
  item: number | null
}

/**
 * A person who writes, reads and marks, one wish after the other, each through any node and again until a node has
 * answered it. Sends carry an Idempotency-Key and now and then are repeated although they were answered, as by a
 * client that lost the answer.
 */
export class Writer {
  readonly #options: WriterOptions
  /** What it has sent, by app: what it may edit, mark and trash. */
  readonly #sent = new Map<number, number[]>()
  #wishes = 0

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Until the signal; what was begun is ended. */
  async run(): Promise<void> {
    const { signal, random, pauseMs } = this.#options
    while (!signal.aborted) {
      const wish = this.#choose()
      const id = await this.#fulfil(wish)
      if (wish.verb === 'send' && id !== null) {
        this.#remember(wish.app, id)
        if (random.isLikely(0.1)) await this.#fulfil(wish)
      }
      // Long pauses are rare: people write in bursts.
      await delay(-Math.log(1 - random.next()) * pauseMs)
    }
  }

  #choose(): Wish {
    const { random, person, world } = this.#options
    // The first app is the busy one.
    const app = random.isLikely(0.5) ? world.apps[0]! : random.pick(world.apps)
    const key = `person ${person.id} wish ${++this.#wishes}`
    const own = this.#sent.get(app) ?? []
    let drawn = random.integer(1, 100)
    const verb = shares.find(share => (drawn -= share.percent) <= 0)?.verb ?? 'send'
    if (verb === 'read') return { verb, key, app, item: null }
    if (verb === 'send' || own.length < 2) return { verb: 'send', key, app, item: null }
    // The newest stays, so that reads have something to find.
    const item = random.pick(own.slice(-20, verb === 'trash' ? -1 : undefined))
    // What is in the trash can no longer be edited.
    if (verb === 'trash')
      this.#sent.set(
        app,
        own.filter(id => id !== item),
      )
    return { verb, key, app, item }
  }

  #remember(app: number, id: number): void {
    const own = this.#sent.get(app) ?? []
    this.#sent.set(app, [...own.slice(-30), id])
  }

  /** Tries until there is an answer; the id in it. */
  async #fulfil(wish: Wish): Promise<number | null> {
    const { nodes, random, signal, recorder } = this.#options
    let node = random.pick(nodes)
    let givenUpAt = Number.POSITIVE_INFINITY
    for (;;) {
      if (signal.aborted) givenUpAt = Math.min(givenUpAt, recorder.now() + graceMs)
      const call = await this.#call(wish, node)
      recorder.calls.push(call)
      const isAnswered = call.status !== null && call.status !== 503 && call.status !== 429
      if (isAnswered || call.doneAt > givenUpAt) return call.id
      await delay(random.integer(20, 200))
      node = random.pick(nodes)
    }
  }

  async #call({ verb, key, app, item }: Wish, node: FaultyNode): Promise<Call> {
    const { person, recorder } = this.#options
    const begun = { at: recorder.now(), verb, key, app, user: person.id, item, node: node.number }
    const { method, path, body, headers } = toRequest({ verb, key, app, item })
    try {
      const response = await fetch(node.url + path, {
        method,
        headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(patienceMs),
      })
      const text = await response.text()
      const answer = response.ok && text !== '' ? JSON.parse(text) : {}
      const id = Number(verb === 'read' ? answer.data?.[0]?.id : answer.id)
      return { ...begun, doneAt: recorder.now(), status: response.status, id: Number.isNaN(id) ? null : id }
    } catch {
      // Cut, refused or too slow: what came of it is what the checks ask.
      return { ...begun, doneAt: recorder.now(), status: null, id: null }
    }
  }
}

interface Request {
  method: string
  path: string
  body?: object
  headers?: Record<string, string>
}

function toRequest({ verb, key, app, item }: Wish): Request {
  switch (verb) {
    case 'send': {
      const headers = { 'idempotency-key': key }
      return { method: 'POST', path: `/api/apps/${app}/messages`, body: { text: key }, headers }
    }
    case 'edit':
      return { method: 'PATCH', path: `/api/messages/${item}`, body: { metadata: { edit: key } } }
    case 'trash':
      return { method: 'POST', path: `/api/messages/${item}/trash` }
    case 'mark':
      return { method: 'PUT', path: `/api/apps/${app}/mark?message_id=${item}` }
    case 'read':
      return { method: 'GET', path: `/api/apps/${app}/messages?order_by=id+desc&take=1` }
  }
}
