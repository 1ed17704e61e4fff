import { setTimeout as delay } from 'node:timers/promises'
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr'
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack'
import type { FaultyNode } from './node.ts'
import type { Observer, ObserverOptions } from './observer.ts'

/** What has not happened by then does not: the connection is given up. Servers ping every ten seconds. */
const patienceMs = 3_000
const silenceMs = 12_000

/**
 * Listens to the new messages of all apps with the official SignalR client, one connection after the other on any node.
 * What happens between two connections it does not hear: the hub has no history.
 */
export class HubObserver implements Observer {
  readonly #options: ObserverOptions
  readonly #protocol: 'json' | 'messagepack'
  readonly #last = new Map<number, number>()
  #connections = 0

  constructor(options: ObserverOptions, protocol: 'json' | 'messagepack') {
    this.#options = options
    this.#protocol = protocol
  }

  last(app: number): number | undefined {
    return this.#last.get(app)
  }

  async run(): Promise<void> {
    const { signal, random, nodes } = this.#options
    while (!signal.aborted) {
      await this.#connect(random.pick(nodes))
      await delay(random.integer(10, 300))
    }
  }

  async #connect(node: FaultyNode): Promise<void> {
    const { name: observer, person, world, recorder, random, signal } = this.#options
    const about = { observer, connection: ++this.#connections, node: node.number }
    const builder = new HubConnectionBuilder()
      .withUrl(`${node.url}/hubs/rtm`, {
        accessTokenFactory: () => person.token,
        transport: HttpTransportType.WebSockets,
        timeout: patienceMs,
      })
      .withServerTimeout(silenceMs)
      .configureLogging(LogLevel.None)
    if (this.#protocol === 'messagepack') builder.withHubProtocol(new MessagePackHubProtocol())
    const connection = builder.build()
    let isLeft = false
    const ended = new Promise<void>(resolve => connection.onclose(() => resolve()))
    for (const app of world.apps) {
      connection.on(`a${app}:message_created`, ({ id, message }: { id: number; message: { id: number } }) => {
        if (isLeft) return
        recorder.saw('hub', { ...about, app, frame: 'event', rev: id, event: 'message_created', item: message.id })
        this.#last.set(app, id)
      })
    }
    try {
      await inTime(connection.start())
      for (const app of world.apps) {
        const askedAt = recorder.now()
        const isHeard = await inTime(connection.invoke<boolean>('Subscribe', `a${app}:message_created`))
        if (!isHeard) throw new Error('The subscription was refused')
        recorder.saw('hub', { ...about, app, frame: 'subscribed', rev: 0, askedAt })
      }
      const leaving = new AbortController()
      const left = delay(random.integer(2_000, 20_000), undefined, {
        signal: AbortSignal.any([signal, leaving.signal]),
      })
      await Promise.race([ended, left.catch(() => {})])
      leaving.abort()
    } catch {
      // Cut or stalled on the way: the next connection begins anew.
    }
    isLeft = true
    recorder.saw('hub', { ...about, app: 0, frame: 'closed', rev: 0 })
    await Promise.race([connection.stop(), delay(patienceMs)])
  }
}

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const late = new AbortController()
  try {
    const timeout = delay(patienceMs, undefined, { signal: late.signal }).then(() => {
      throw new Error('It took too long')
    })
    timeout.catch(() => {})
    return await Promise.race([work, timeout])
  } finally {
    late.abort()
  }
}
