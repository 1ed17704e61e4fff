import { Cluster, Redis } from 'ioredis'
import { systemClock as clock, withTimeout } from '../lib/clock.ts'
import { StartFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Bus } from './bus.ts'
import { Listeners, packMessage, type ReadMessage } from './message.ts'

interface RedisBusOptions {
  /** redis:// or rediss://; of a Cluster, any of its nodes. */
  url: string
  isCluster: boolean
  /** Names the database: nodes on another one may share the Redis, and have apps with the same ids. */
  deployment: string
  /** Nodes of another version are not heard: what they send may mean something else here. They find each other's news in the log. */
  version: string
  log: Log
}

/** Redis 7 brought sharded pub/sub, which a Cluster needs to spread channels over its nodes; Valkey has it too. */
const leastVersion = 7

/** Longer than a restart of Redis takes; nothing waits for it, reconnecting only gets slower. */
const slowestRetryMs = 2_000

/** Time for a connection to be made. */
const connectTimeoutMs = 5_000

/**
 * How long a node that starts waits for Redis, before it goes on without. A guess: a Redis that is there answers at
 * once.
 */
const firstAnswerMs = 2_000

/** Time for what was published just before the end. Where Redis hangs it is lost. */
const lastWordsMs = 500

type Client = Redis | Cluster

/**
 * The bus through Redis or Valkey: one connection that publishes and one that is subscribed. Started by `connect`,
 * ended by `close`. Connections that break come back by themselves, with their subscriptions; what was published
 * meanwhile is lost, and found in the event log a second later.
 */
export class RedisBus implements Bus {
  readonly reachesOtherNodes = true
  readonly #publisher: Client
  readonly #subscriber: Client
  readonly #prefix: string
  readonly #listeners: Listeners
  /** Settled when the last message has left, or was lost. */
  #sent: Promise<unknown> = Promise.resolve()

  private constructor(publisher: Client, subscriber: Client, { prefix, log }: { prefix: string; log: Log }) {
    this.#prefix = prefix
    this.#listeners = new Listeners(log)
    this.#publisher = publisher
    this.#subscriber = subscriber
    // Not left to ioredis, which forgets a subscription that was on its way when the connection broke.
    subscriber.on('ready', () => {
      for (const channel of this.#listeners.channels) this.#listen(channel)
    })
    subscriber.on('smessageBuffer', (channel: Buffer, bytes: Buffer) =>
      this.#listeners.deliver(channel.toString().slice(prefix.length), bytes),
    )
  }

  /**
   * A bus whose Redis may be away, and is used as soon as it is there. Rejects with a StartFault that tells the way out
   * where Redis answers that it is not to be used: it is too old, is no Cluster, or refuses the password.
   */
  static async connect({ url, isCluster, deployment, version, log }: RedisBusOptions): Promise<RedisBus> {
    const clients = [open(url, isCluster), open(url, isCluster)] as const
    const refused = Promise.withResolvers<never>()
    refused.promise.catch(() => {})
    for (const client of clients) watch(client, log, refused.reject)
    const bus = new RedisBus(...clients, { prefix: `parley:${version}:${deployment}:`, log })
    try {
      await Promise.race([refused.promise, greet(clients)])
    } catch (error) {
      await bus.close()
      throw error
    }
    return bus
  }

  get isConnected(): boolean {
    return this.#publisher.status === 'ready' && this.#subscriber.status === 'ready'
  }

  publish(channel: string, message: object): void {
    // Not queued while Redis is away: old news is in the log, and a queue would only grow.
    this.#sent = this.#publisher.spublish(this.#prefix + channel, packMessage(message)).catch(() => {})
  }

  subscribe<Message>(channel: string, read: ReadMessage<Message>, listener: (message: Message) => void): () => void {
    this.#listeners.set(channel, read, listener)
    this.#listen(channel)
    return () => {
      this.#listeners.delete(channel)
      this.#subscriber.sunsubscribe(this.#prefix + channel).catch(() => {
        // As above: messages without a subscriber are dropped.
      })
    }
  }

  #listen(channel: string): void {
    this.#subscriber.ssubscribe(this.#prefix + channel).catch(() => {
      // The connection broke: it is done again when there is a new one.
    })
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    this.#subscriber.disconnect()
    await withTimeout(this.#sent, { clock, timeoutMs: lastWordsMs, onTimeout: () => null })
    this.#publisher.disconnect()
  }
}

function open(url: string, isCluster: boolean): Client {
  const options = {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResubscribe: false,
    enableAutoPipelining: true,
    connectTimeout: connectTimeoutMs,
    maxRetriesPerRequest: 0,
  }
  const retry = (attempt: number) => Math.min(attempt * 100, slowestRetryMs)
  if (!isCluster) return new Redis(url, { ...options, retryStrategy: retry })
  return new Cluster([url], {
    lazyConnect: true,
    enableOfflineQueue: false,
    shardedSubscribers: true,
    clusterRetryStrategy: retry,
    redisOptions: options,
  })
}

/**
 * Logs once when the connection breaks, and once when it is there again. Without a listener for its errors, a broken one
 * would end the process. Calls `refuse` with a StartFault where the server answers, and is not to be used.
 */
function watch(client: Client, log: Log, refuse: (fault: StartFault) => void): void {
  let isAway = false
  const report = (error: unknown) => {
    if (error instanceof StartFault) refuse(error)
    if (!isAway) log.warn({ error }, 'Redis cannot be used; news between nodes is late')
    isAway = true
  }
  client.on('error', (error: Error) => report(toRefusal(error) ?? error))
  client.on('ready', () => {
    if (isAway) log.info({}, 'Redis is there again')
    isAway = false
    // A connection that broke meanwhile says so by itself.
    client.info('server').then(requireVersion).catch(report)
  })
}

/** Resolves when both are connected and answer, or with the patience of a node that starts. Never rejects. */
async function greet(clients: readonly Client[]): Promise<void> {
  const answers = clients.map(async client => {
    await client.connect()
    await client.info('server')
  })
  // Its `error` event says why a connection cannot be made.
  await withTimeout(Promise.allSettled(answers), { clock, timeoutMs: firstAnswerMs, onTimeout: () => null })
}

/** What a server says that is there, but has other things to do for now: it reads its data, or has no master yet. */
const passing = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY)\b/

/** The answer of a server that will be the same next time, with the way out; null for any other error. */
function toRefusal(error: Error & { lastNodeError?: Error }): StartFault | null {
  if (error.lastNodeError !== undefined) return toRefusal(error.lastNodeError)
  if (error.name !== 'ReplyError' || passing.test(error.message)) return null
  const way = 'Correct REDIS_URL or REDIS_CLUSTER, or remove REDIS_URL to run without Redis.'
  return new StartFault(`Redis refuses this node (${error.message}). ${way}`, { cause: error })
}

function requireVersion(info: string): void {
  // Valkey says redis_version:7.2.4 as well, for programs that look there.
  const version = /redis_version:(\d+)/.exec(info)?.[1]
  if (Number(version) >= leastVersion) return
  throw new StartFault(`Redis ${version ?? ''} is too old: Parley needs Redis ${leastVersion} or newer, or Valkey.`)
}
