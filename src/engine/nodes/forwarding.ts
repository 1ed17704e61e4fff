import { randomBytes } from 'node:crypto'
import type { Bus } from '../../cluster/bus.ts'
import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/errors.ts'
import type { IdempotencyKey } from '../../api/idempotency-key.ts'
import { toForwardedKey } from '../commit/idempotency.ts'
import type { PendingCommand } from '../app-actor.ts'
import type { Apps } from '../apps.ts'
import type { AnyCommand } from '../command.ts'
import type { LastWriters } from './last-writers.ts'
import type { Principal } from '../../auth/principal.ts'

/** The commands that another node may run, by name. */
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

/**
 * How long to wait for an answer. A guess: longer than a commit takes under load. A node that hangs delays by as much.
 */
const answerTimeoutMs = 1_000

/**
 * The least time between two messages, so that under load commands share one. A guess: far below a forwarded commit.
 */
const postMs = 2

/** The time between two searches for commands without an answer, after which it is looked whether their node is there. */
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
/** `left`: the command was not run, or its outcome is unknown. The node that sent it runs it. */
type Answer =
  | [ticket: number, outcome: 'done', result: unknown, details: number]
  | [ticket: number, outcome: 'refused', refusal: Refusal]
  | [ticket: number, outcome: 'left']
type Refusal = Pick<Problem, 'status' | 'code' | 'message' | 'facts'>

/** A message from one node to another: all of one turn of the event loop, at least. */
interface Message {
  from: string
  requests: Request[]
  answers: Answer[]
}

/** The message of a node that stops. */
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

/** The request hash beside a key that was made for one command: no other request can have the key. */
const noRequest = Buffer.alloc(0)

/**
 * Forwards commands over the bus to the node that writes to their app, so that an app which many nodes write to at one
 * time is committed by one of them, on state that is current. Which node that is, is a hint: a node runs every command
 * that it receives, and PostgreSQL detects conflicts between nodes as ever.
 *
 * Every forwarded command has an idempotency key: its caller's, or one that is made for it. So this node may run a
 * command whose answer is late or lost: if the other node has run it, the key has its result. A node that died delays a
 * command by some 100 ms, one that hangs by a second at most. A node that stops answers first the commands that it has
 * received.
 */
export class Forwarding {
  readonly #parts: ForwardingParts
  readonly #outbox = new Map<string, Message>()
  readonly #sent = new Map<number, Sent>()
  readonly #end: () => void
  /**
   * Distinguishes the keys of this process from the keys of all others, including earlier ones with this node's name.
   */
  readonly #origin = randomBytes(8)
  #tickets = 0
  /** By a monotonic clock: one that is set back would delay messages by as much. */
  #postedAtMs = 0
  #isSweeping = false
  /** Commands of other nodes that run here now. */
  #working = 0
  #onIdle: (() => void) | null = null
  #isStopping = false

  constructor(parts: ForwardingParts) {
    this.#parts = parts
    const { bus, node, lastWriters } = parts
    const ends = [
      bus.subscribe(channelOf(node), message => this.#onMessage(message as Message)),
      bus.subscribe(leavingChannel, message => lastWriters.suspend((message as Leaving).from)),
    ]
    this.#end = () => ends.forEach(end => end())
  }

  /** The number of commands that were sent to other nodes so far. */
  get forwarded(): number {
    return this.#tickets
  }

  /** Sends a command to the node that writes to its app. Returns false where this node is to run it. */
  tryForward(app: number, pending: PendingCommand): boolean {
    const { lastWriters, commands } = this.#parts
    lastWriters.recordOwnUse(app)
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
    if (!this.#isSweeping) this.#sweepLater()
    return true
  }

  /** Accepts no more commands. Resolves when other nodes have their answers. */
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

  /** Sends messages at the end of this turn of the event loop, or `postMs` after the last ones. */
  #postSoon(): void {
    const gatherMs = this.#postedAtMs + postMs - performance.now()
    if (gatherMs > 0) this.#parts.clock.after(gatherMs, () => this.#post())
    else setImmediate(() => this.#post())
  }

  #post(): void {
    this.#postedAtMs = performance.now()
    for (const [node, message] of this.#outbox)
      this.#parts.bus.publish(channelOf(node), message, () => this.#giveUp(node))
    this.#outbox.clear()
  }

  /** Runs here what was sent to a node that is gone, or does not answer, and sends it nothing for some time. */
  #giveUp(node: string): void {
    this.#parts.lastWriters.suspend(node)
    this.#recall(sent => sent.node === node)
  }

  #onMessage({ from, requests, answers }: Message): void {
    for (const answer of answers) this.#onAnswer(answer)
    for (const request of requests) this.#onRequest(from, request)
  }

  #onRequest(from: string, [ticket, name, app, by, input, key, request]: Request): void {
    this.#parts.lastWriters.recordForwarded(app)
    const command = this.#parts.commands.get(name)
    // A node of another version sent the command, and can run it.
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
    if (outcome === 'left') this.#parts.apps.putHere(sent.app, sent.pending)
    else if (outcome === 'done') void this.#resolve(sent, value, details)
    else {
      const reason = new Problem(value.status, value.code, value.message, value.facts)
      this.#parts.apps.reply({ pending: sent.pending, reason })
    }
  }

  /**
   * Resolves a command. The caller also gets the app's properties, so a state with older ones is brought up to date
   * first.
   */
  async #resolve({ app, pending }: Sent, result: unknown, details: number): Promise<void> {
    const { apps } = this.#parts
    if (apps.peek(app) !== undefined && this.#detailsOf(app) !== details) {
      // The command is committed, even if its app cannot be read now.
      await apps.remoteCommits.catchUp([app]).catch(() => {})
    }
    apps.reply({ pending, result })
  }

  /** When the app's own properties were last changed, in milliseconds; 0 where that is unknown. */
  #detailsOf(app: number): number {
    return this.#parts.apps.peek(app)?.app.updated_at?.getTime() ?? 0
  }

  #sweepLater(): void {
    this.#isSweeping = true
    this.#parts.clock.after(sweepMs, () => {
      const nowMs = this.#parts.clock.now()
      for (const { node, sentAt } of this.#sent.values()) {
        // The map is in the order of sending.
        if (sentAt > nowMs - sweepMs) break
        if (sentAt <= nowMs - answerTimeoutMs) this.#giveUp(node)
        // A message, however empty, is unheard where the node is gone.
        else this.#messageTo(node)
      }
      if (this.#sent.size > 0) this.#sweepLater()
      else this.#isSweeping = false
    })
  }

  /** Runs commands here that were sent and not answered. If one was run there, its idempotency key has the result. */
  #recall(isMeant: (sent: Sent) => boolean): void {
    for (const [ticket, sent] of this.#sent) {
      if (!isMeant(sent)) continue
      this.#sent.delete(ticket)
      this.#parts.apps.putHere(sent.app, sent.pending)
    }
  }
}

/** A command that failed here, or was refused for overload, is left to the node that sent it. */
function toRefusal(error: unknown): ['left'] | ['refused', Refusal] {
  if (!(error instanceof Problem) || error.status >= 500) return ['left']
  const { status, code, message, facts } = error
  return ['refused', { status, code, message, facts }]
}
