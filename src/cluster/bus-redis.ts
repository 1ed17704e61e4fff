import { setTimeout as delay } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { StartFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Bus } from './bus.ts'

interface RedisBusOptions {
  /** redis:// or rediss://; of a Cluster, any of its nodes. */
  url: string
  isCluster: boolean
  /** Names the database: nodes on another one may share the Redis, and have apps with the same ids. */
  deployment: string
  log: Log
}

/** Redis 7 brought sharded pub/sub, which a Cluster needs to spread channels over its nodes; Valkey has it too. */
const leastVersion = 7

/** Longer than a restart of Redis takes; nobody waits for it, reconnecting only gets slower. */
const slowestRetryMs = 2_000

/** Time for the first connection: whoever starts a node wants to hear soon that the address is wrong. */
const connectTimeoutMs = 5_000

/** Time for what was published just before the end. Where Redis hangs it is lost. */
const lastWordsMs = 500

type Client = Redis | Cluster

/**
 * The bus through Redis or Valkey: one connection that publishes and one that is subscribed. Started by `connect`,
 * ended by `close`. Connections that break come back by themselves, with their subscriptions; what was published
 * meanwhile is lost, and found in the event log a second later.
 */
export class RedisBus implements Bus {
  readonly #publisher: Client
  readonly #subscriber: Client
  readonly #prefix: string
  readonly #listeners = new Map<string, (message: unknown) => void>()
  /** Settled when the last message has left, or was lost. */
  #sent: Promise<unknown> = Promise.resolve()

  private constructor(publisher: Client, subscriber: Client, prefix: string) {
    this.#prefix = prefix
    this.#publisher = publisher
    this.#subscriber = subscriber
    // Not left to ioredis, which forgets a subscription that was on its way when the connection broke.
    subscriber.on('ready', () => {
      for (const channel of this.#listeners.keys()) this.#listen(channel)
    })
    subscriber.on('smessage', (channel: string, text: string) =>
      this.#listeners.get(channel.slice(prefix.length))?.(JSON.parse(text)),
    )
  }

  /** Rejects with a StartFault that tells the way out where Redis does not answer, or is too old. */
  static async connect({ url, isCluster, deployment, log }: RedisBusOptions): Promise<RedisBus> {
    const clients = [open(url, isCluster), open(url, isCluster)] as const
    for (const client of clients) {
      // Without a listener a broken connection would end the process. It is logged once for each break.
      client.on('error', (error: Error) => log.warn({ error }, 'Redis cannot be reached; news between nodes is late'))
    }
    try {
      await Promise.all(clients.map(client => client.connect()))
      requireVersion(await clients[0].info('server'))
    } catch (error) {
      for (const client of clients) client.disconnect()
      if (error instanceof StartFault) throw error
      throw new StartFault('Redis does not answer. Start it, correct REDIS_URL, or remove REDIS_URL to run one node.', {
        cause: error,
      })
    }
    return new RedisBus(...clients, `parley:${deployment}:`)
  }

  publish(channel: string, message: object): void {
    // Not queued while Redis is away: old news is in the log, and a queue would only grow.
    this.#sent = this.#publisher.spublish(this.#prefix + channel, JSON.stringify(message)).catch(() => {})
  }

  subscribe(channel: string, hear: (message: unknown) => void): () => void {
    this.#listeners.set(channel, hear)
    this.#listen(channel)
    return () => {
      this.#listeners.delete(channel)
      this.#subscriber.sunsubscribe(this.#prefix + channel).catch(() => {
        // As above: messages for nobody are dropped.
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
    await Promise.race([this.#sent, delay(lastWordsMs, undefined, { ref: false })])
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

function requireVersion(info: string): void {
  // Valkey says redis_version:7.2.4 as well, for programs that look there.
  const version = /redis_version:(\d+)/.exec(info)?.[1]
  if (Number(version) >= leastVersion) return
  throw new StartFault(`Redis ${version ?? ''} is too old: Parley needs Redis ${leastVersion} or newer, or Valkey.`)
}
