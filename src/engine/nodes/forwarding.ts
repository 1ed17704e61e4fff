import { randomBytes } from 'node:crypto'
import type { Bus } from '../../cluster/bus.ts'
import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/errors.ts'
import type { IdempotencyKey } from '../../api/idempotency-key.ts'
import { toForwardedKey } from '../commit/idempotency.ts'
import { isRefusal, type PendingCommand } from '../app-actor.ts'
import type { Apps } from '../apps.ts'
import type { AnyCommand } from '../command.ts'
import type { LastWriters } from './last-writers.ts'
import type { Principal } from '../../auth/principal.ts'

/** The commands that may be done by another node, by name. */
export type ForwardedCommands = ReadonlyMap<string, AnyCommand>

interface ForwardingParts {
  bus: Bus
  /** This node's name on the bus. */
  node: string
  apps: Apps
  lastWriters: LastWriters
  commands: ForwardedCommands
  clock: Clock
}

/** Longer than a commit takes under load; for as long a node that is frozen holds up what was sent to it. A guess. */
const answerTimeoutMs = 1_000

/**
 * The time between two messages to a node, at least: under load some commands share one. A guess: a small part of what a
 * command takes that is sent to another node.
 */
const postMs = 2

/** How exactly that is kept. */
const sweepMs = 100

type Request = [
  ticket: number,
  command: string,
  app: number,
  by: Principal,
  input: unknown,
  key: Uint8Array,
  request: Uint8Array,
]
/** `left`: nothing was done, or it is unknown whether it was; the node that asked does the command itself. */
type Answer =
  | [ticket: number, outcome: 'done', result: unknown, details: number]
  | [ticket: number, outcome: 'refused', refusal: Refusal]
  | [ticket: number, outcome: 'left']
type Refusal = Pick<Problem, 'status' | 'code' | 'message' | 'facts'>

/** What one node says to another, gathered over one turn of the event loop. */
interface Message {
  from: string
  requests: Request[]
  answers: Answer[]
}

/** Said by a node that stops. */
interface Leaving {
  from: string
}

interface Sent {
  pending: PendingCommand
  app: number
  node: string
  sentAt: number
}

const leavingChannel = 'leaving'
const channelOf = (node: string) => `node:${node}`

/** A key that was made for a command belongs to nothing else. */
const noRequest = Buffer.alloc(0)

/**
 * Sends commands to the node that wrote to their app last, over the bus, so that an app that many nodes write to at one
 * time is committed to by one of them, in memory that is exact. It is a hint: a node that gets a command does it,
 * even where yet another one wrote last, and PostgreSQL decides between nodes as ever.
 *
 * Every command that is sent has an idempotency key, its caller's or one that is made for it. So one whose answer is
 * late or lost is done here: if it was done there after all, it is found, and not done again. Nothing waits for longer
 * than a second for a node that died or is frozen. What was sent to this node is answered before it stops.
 */
export class Forwarding {
  readonly #parts: ForwardingParts
  readonly #outbox = new Map<string, Message>()
  readonly #sent = new Map<number, Sent>()
  readonly #end: () => void
  /** Distinguishes this node's keys from the keys of all others, also of earlier ones with its name. */
  readonly #origin = randomBytes(8)
  #tickets = 0
  /** Of a clock that nobody sets: set back, another one would hold messages up for as long. */
  #postedAtMs = 0
  #forwarded = 0
  #isSweeping = false
  /** Commands of other nodes that are being done. */
  #working = 0
  #onIdle: (() => void) | null = null
  #isStopping = false

  constructor(parts: ForwardingParts) {
    this.#parts = parts
    const { bus, node, lastWriters } = parts
    const ends = [
      bus.subscribe(channelOf(node), message => this.#onMessage(message as Message)),
      bus.subscribe(leavingChannel, message => lastWriters.silence((message as Leaving).from)),
    ]
    this.#end = () => ends.forEach(end => end())
  }

  /** How many commands were sent to other nodes so far. */
  get forwarded(): number {
    return this.#forwarded
  }

  /** Sends a command to the node that does it at the least cost; false where that is this one. */
  tryForward(app: number, pending: PendingCommand): boolean {
    const { lastWriters, commands } = this.#parts
    lastWriters.uses(app)
    const node = lastWriters.find(app)
    if (node === null || this.#isStopping) return false
    const { command, input, by } = pending
    if (commands.get(command.name) !== command || command.isForwardable?.(input) === false) return false
    const ticket = ++this.#tickets
    pending.idempotencyKey ??= {
      key: toForwardedKey(this.#parts.clock.now(), this.#origin, ticket),
      request: noRequest,
    }
    this.#sent.set(ticket, { pending, app, node, sentAt: this.#parts.clock.now() })
    this.#messageTo(node).requests.push([
      ticket,
      command.name,
      app,
      by,
      input,
      pending.idempotencyKey.key,
      pending.idempotencyKey.request,
    ])
    this.#forwarded++
    if (!this.#isSweeping) this.#sweepLater()
    return true
  }

  /** Accepts nothing more; resolves when other nodes have what they asked for. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#parts.bus.publish(leavingChannel, { from: this.#parts.node } satisfies Leaving)
    if (this.#working > 0) await new Promise<void>(resolve => (this.#onIdle = resolve))
    this.#post()
    this.#end()
    this.#recall(() => true)
  }

  #messageTo(node: string): Message {
    let message = this.#outbox.get(node)
    if (message === undefined) {
      if (this.#outbox.size === 0) this.#postSoon()
      message = { from: this.#parts.node, requests: [], answers: [] }
      this.#outbox.set(node, message)
    }
    return message
  }

  /** At the end of this turn of the event loop, or as soon as the last messages are long enough ago. */
  #postSoon(): void {
    const gatherMs = this.#postedAtMs + postMs - performance.now()
    if (gatherMs > 0) this.#parts.clock.after(gatherMs, () => this.#post())
    else setImmediate(() => this.#post())
  }

  #post(): void {
    this.#postedAtMs = performance.now()
    for (const [node, message] of this.#outbox) this.#parts.bus.publish(channelOf(node), message)
    this.#outbox.clear()
  }

  #onMessage({ from, requests, answers }: Message): void {
    for (const answer of answers) this.#onAnswer(answer)
    for (const request of requests) this.#onRequest(from, request)
  }

  #onRequest(from: string, [ticket, name, app, by, input, key, request]: Request): void {
    this.#parts.lastWriters.serves(app)
    const command = this.#parts.commands.get(name)
    // A command of another version is known to the node that sent it.
    if (command === undefined || this.#isStopping) return void this.#messageTo(from).answers.push([ticket, 'left'])
    const idempotencyKey: IdempotencyKey = { key: Buffer.from(key), request: Buffer.from(request) }
    const answer = (answer: Answer) => {
      this.#messageTo(from).answers.push(answer)
      if (--this.#working === 0) this.#onIdle?.()
    }
    this.#working++
    this.#parts.apps.runHere(command, app, by, input, idempotencyKey).then(
      result => answer([ticket, 'done', result, this.#detailsOf(app)]),
      (error: unknown) => answer([ticket, ...toRefusal(error)]),
    )
  }

  #onAnswer([ticket, outcome, value, details]: Answer): void {
    const sent = this.#sent.get(ticket)
    if (sent === undefined) return
    this.#sent.delete(ticket)
    if (outcome === 'left') this.#doHere(sent)
    else if (outcome === 'done') void this.#resolve(sent, value, details)
    else {
      const reason = new Problem(value.status, value.code, value.message, value.facts)
      this.#parts.apps.reply({ pending: sent.pending, reason })
    }
  }

  /** Callers are shown the app with what they wrote: as it is called by now, though memory may be behind. */
  async #resolve({ app, pending }: Sent, result: unknown, details: number): Promise<void> {
    const { apps } = this.#parts
    if (apps.peek(app) !== undefined && this.#detailsOf(app) !== details) {
      // It is committed, whether that can be read now or not.
      await apps.catchUp([app]).catch(() => {})
    }
    apps.reply({ pending, result })
  }

  /** When the app's own properties were changed last. */
  #detailsOf(app: number): number {
    return this.#parts.apps.peek(app)?.app.updated_at?.getTime() ?? 0
  }

  #doHere({ app, pending }: Sent): void {
    this.#parts.apps.putHere(app, pending)
  }

  #sweepLater(): void {
    this.#isSweeping = true
    this.#parts.clock.after(sweepMs, () => {
      const latest = this.#parts.clock.now() - answerTimeoutMs
      for (const { node, sentAt } of this.#sent.values()) {
        // In the order in which they were sent.
        if (sentAt > latest) break
        this.#parts.lastWriters.silence(node)
        this.#recall(sent => sent.node === node)
      }
      if (this.#sent.size > 0) this.#sweepLater()
      else this.#isSweeping = false
    })
  }

  /** Does here what was sent elsewhere and not answered. If it was done there, its idempotency key shows that. */
  #recall(isMeant: (sent: Sent) => boolean): void {
    for (const [ticket, sent] of this.#sent) {
      if (!isMeant(sent)) continue
      this.#sent.delete(ticket)
      this.#doHere(sent)
    }
  }
}

/** What this node refused for want of room, or failed at, the other one may as well try itself. */
function toRefusal(error: unknown): ['left'] | ['refused', Refusal] {
  if (!isRefusal(error) || error.status >= 500) return ['left']
  const { status, code, message, facts } = error
  return ['refused', { status, code, message, facts }]
}
