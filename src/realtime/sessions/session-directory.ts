import { z } from 'zod'
import type { Bus } from '../../cluster/bus.ts'
import type { Clock } from '../../lib/clock.ts'
import { SessionFilter, SessionPage, type ListedSession } from './session-list.ts'

interface SessionDirectoryParts {
  bus: Bus
  /** The id of this node. */
  node: string
  /** The ids of the other running nodes, as far as the database knows. */
  otherNodes: () => Promise<string[]>
  /** Lists the sessions of this node. */
  listHere: (filter: SessionFilter, limit: number) => SessionPage
  clock: Clock
}

/** The matching sessions of all nodes, and the nodes whose answer is missing. */
export interface ClusterSessions {
  sessions: (ListedSession & { node: string })[]
  count: number
  /** Running nodes that did not answer in time. */
  silent: string[]
}

/**
 * How long a node waits for the others, while a user looks at an empty page. A healthy node takes some milliseconds.
 */
const answerTimeoutMs = 500

/** The most sessions in one node's answer, whatever limit it is asked for: some 200 KB. */
const answerLimit = 1_000

const Question = z.object({
  from: z.string(),
  ticket: z.int(),
  /** The node that is asked; absent: all. */
  to: z.string().optional(),
  filter: SessionFilter,
  limit: z.int().nonnegative(),
})
type Question = z.output<typeof Question>

const Answer = SessionPage.extend({ from: z.string(), ticket: z.int() })
type Answer = z.output<typeof Answer>

/** A question that some nodes have still to answer. */
interface OpenQuestion {
  missing: Set<string>
  answers: Answer[]
  onComplete: () => void
}

const questions = 'sessions'
const answersTo = (node: string) => `sessions:${node}`

/**
 * The realtime sessions of all nodes. Each node knows its own, and asks the others over the bus when a user wants to
 * see them. A node that does not answer within half a second is named as missing; without Redis, all others are.
 */
export class SessionDirectory {
  readonly #parts: SessionDirectoryParts
  readonly #open = new Map<number, OpenQuestion>()
  #tickets = 0

  constructor(parts: SessionDirectoryParts) {
    this.#parts = parts
  }

  /** Answers other nodes from now on, until the returned function is called. */
  start(): () => void {
    const { bus, node } = this.#parts
    const ends = [
      bus.subscribe(questions, Question.parse, question => this.#onQuestion(question)),
      bus.subscribe(answersTo(node), Answer.parse, answer => this.#onAnswer(answer)),
    ]
    return () => ends.forEach(end => end())
  }

  /** The newest sessions of all nodes, at most `limit`, and how many match. */
  async list(filter: SessionFilter, limit: number): Promise<ClusterSessions> {
    const { node, listHere, otherNodes } = this.#parts
    const { answers, silent } = await this.#ask({ filter, limit }, await otherNodes())
    const all = [{ from: node, ...listHere(filter, limit) }, ...answers]
    const sessions = all.flatMap(page => page.sessions.map(session => ({ ...session, node: page.from })))
    sessions.sort((a, b) => b.since - a.since || (a.node < b.node ? -1 : 1) || b.number - a.number)
    return { sessions: sessions.slice(0, limit), count: all.reduce((sum, { count }) => sum + count, 0), silent }
  }

  /** True where a running node has the session, or does not answer. */
  async mayHave(node: string, number: number): Promise<boolean> {
    const filter = { number }
    if (node === this.#parts.node) return this.#parts.listHere(filter, 1).count > 0
    if (!(await this.#parts.otherNodes()).includes(node)) return false
    const { answers } = await this.#ask({ to: node, filter, limit: 1 }, [node])
    return answers.length === 0 || answers[0]!.count > 0
  }

  async #ask(
    question: Pick<Question, 'to' | 'filter' | 'limit'>,
    nodes: string[],
  ): Promise<{ answers: Answer[]; silent: string[] }> {
    const { bus, node, clock } = this.#parts
    if (!bus.reachesOtherNodes || nodes.length === 0) return { answers: [], silent: nodes }
    const ticket = ++this.#tickets
    const complete = Promise.withResolvers<void>()
    const open = { missing: new Set(nodes), answers: [], onComplete: complete.resolve } satisfies OpenQuestion
    this.#open.set(ticket, open)
    bus.publish(questions, { from: node, ticket, ...question } satisfies Question)
    const cancel = clock.after(answerTimeoutMs, complete.resolve)
    await complete.promise
    cancel()
    this.#open.delete(ticket)
    return { answers: open.answers, silent: [...open.missing] }
  }

  #onQuestion({ from, ticket, to, filter, limit }: Question): void {
    const { bus, node, listHere } = this.#parts
    if (from === node || (to !== undefined && to !== node)) return
    const page = listHere(filter, Math.min(limit, answerLimit))
    bus.publish(answersTo(from), { from: node, ticket, ...page } satisfies Answer)
  }

  #onAnswer(answer: Answer): void {
    const open = this.#open.get(answer.ticket)
    // An answer of a node that the database does not know, because it is new or cannot reach the database, counts too.
    if (open === undefined || open.answers.some(({ from }) => from === answer.from)) return
    open.answers.push(answer)
    open.missing.delete(answer.from)
    if (open.missing.size === 0) open.onComplete()
  }
}
