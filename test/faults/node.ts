import { setTimeout as delay } from 'node:timers/promises'
import { toSharedUrl } from '../support/postgres-server.ts'
import { programKey, startProgram, type ReadyProgram, type TemporaryDirectory } from '../support/process.ts'
import { Proxy, type Rewrite, type Target } from './proxy.ts'

export interface NodeOptions {
  number: number
  dir: TemporaryDirectory
  /** Where it finds PostgreSQL's servers, of which one at a time is the primary. */
  postgres: readonly Target[]
  /** Of the first of them. */
  url: string
  redis: Target
  /** What happens to what clients say and are told, for mutants. */
  rewrite: Rewrite
  /** Called with the last words of a node that ended although nobody had told it to. */
  onDeath: (node: number, words: string) => void
}

/** Starts are tried again for this long: PostgreSQL or Redis may be away meanwhile, as after a power cut. */
const startDeadlineMs = 120_000

/**
 * One node: a process, which can be killed and started again, and proxies before everything that it talks to. Its
 * address stays the same for clients, whichever process it is.
 */
export class FaultyNode {
  readonly number: number
  /** Between clients and the node. */
  readonly clients: Proxy
  /** Between the node and each of PostgreSQL's servers. */
  readonly postgres: readonly Proxy[]
  readonly redis: Proxy
  readonly #options: NodeOptions
  /** What its processes printed, the present one excepted. */
  #output = ''
  #program: ReadyProgram | null = null
  #isStopping = false

  private constructor(options: NodeOptions, clients: Proxy, postgres: Proxy[], redis: Proxy) {
    this.#options = options
    this.number = options.number
    this.clients = clients
    this.postgres = postgres
    this.redis = redis
  }

  static async start(options: NodeOptions): Promise<FaultyNode> {
    const clients = await Proxy.open(options.rewrite)
    const postgres = await Promise.all(options.postgres.map(target => openTo(target)))
    const redis = await openTo(options.redis)
    const node = new FaultyNode(options, clients, postgres, redis)
    await node.start()
    return node
  }

  /** Where clients find it. */
  get url(): string {
    return `http://127.0.0.1:${this.clients.port}`
  }

  get output(): string {
    return this.#output + (this.#program?.output() ?? '')
  }

  /** Starts the process, again and again where it cannot start yet, as whoever supervises it would. */
  async start(): Promise<void> {
    const deadline = Date.now() + startDeadlineMs
    for (;;) {
      try {
        this.#program = await this.#launch()
        break
      } catch (error) {
        this.#output += `${String(error)}\n`
        if (Date.now() > deadline) throw error
        await delay(200)
      }
    }
    const program = this.#program
    this.clients.lead({ port: Number(new URL(program.url).port) })
    void program.ended.then(outcome => {
      if (this.#program !== program || this.#isStopping) return
      this.#options.onDeath(this.number, `ended with ${outcome}: ${program.output().slice(-2_000)}`)
      this.#bury(program)
      this.start().catch((error: Error) => this.#options.onDeath(this.number, `does not start again: ${error.message}`))
    })
  }

  signal(signal: NodeJS.Signals): void {
    this.#program?.kill(signal)
  }

  /** Ends the process by a signal, and resolves when it has ended. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const program = this.#program
    if (program === null) return
    this.#isStopping = true
    program.kill(signal)
    await program.ended
    this.#bury(program)
    this.#isStopping = false
  }

  async close(): Promise<void> {
    await this.end('SIGKILL')
    await Promise.all([this.clients, ...this.postgres, this.redis].map(proxy => proxy.close()))
  }

  #launch(): Promise<ReadyProgram> {
    return startProgram(this.#options.dir, {
      DATABASE_URL: toSharedUrl(
        this.#options.url,
        this.postgres.map(({ port }) => port),
      ),
      REDIS_URL: `redis://127.0.0.1:${this.redis.port}`,
      API_KEY: programKey,
      DATABASE_CONNECTIONS: '5',
      DRAIN_SECONDS: '5',
      WEBHOOK_RATE_PER_SECOND: '1000',
    })
  }

  /** Nobody finds a process that has ended. */
  #bury(program: ReadyProgram): void {
    this.#output += program.output()
    this.#program = null
    this.clients.lead(null)
    this.clients.cut()
  }
}

async function openTo(target: Target): Promise<Proxy> {
  const proxy = await Proxy.open()
  proxy.lead(target)
  return proxy
}
