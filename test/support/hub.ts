import { HttpTransportType, HubConnectionBuilder, LogLevel, type HubConnection } from '@microsoft/signalr'
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack'
import { eventually } from './eventually.ts'
import type { Body } from './client.ts'

interface HubOptions {
  /** Asked for before each connection, as the client does it. */
  token: () => string
  protocol?: 'json' | 'messagepack'
  /** Waits before each attempt to reconnect; without them, the client does not. */
  retryDelaysMs?: number[]
}

/** An event as it arrived: the name that it was told under, and the payload. */
export interface Told {
  name: string
  payload: Body
}

/** The official SignalR client, with everything that it was told. */
export class HubClient implements AsyncDisposable {
  readonly connection: HubConnection
  readonly told: Told[] = []

  constructor(url: string, { token, protocol = 'json', retryDelaysMs }: HubOptions) {
    const builder = new HubConnectionBuilder()
      .withUrl(`${url}/hubs/rtm`, { accessTokenFactory: token, transport: HttpTransportType.WebSockets })
      .configureLogging(LogLevel.None)
    if (protocol === 'messagepack') builder.withHubProtocol(new MessagePackHubProtocol())
    if (retryDelaysMs !== undefined) builder.withAutomaticReconnect(retryDelaysMs)
    this.connection = builder.build()
  }

  /** Subscribes, and remembers what is told under the name from now on. */
  async subscribe(name: string): Promise<boolean> {
    this.connection.off(name)
    this.connection.on(name, (payload: Body) => void this.told.push({ name, payload }))
    return await this.connection.invoke<boolean>('Subscribe', name)
  }

  /** Waits until something was told under the name, and takes it out. */
  async hear(name: string, matches: (payload: Body) => boolean = () => true): Promise<Body> {
    const find = () => this.told.findIndex(told => told.name === name && matches(told.payload))
    await eventually(() => {
      if (find() === -1) throw new Error(`Nothing was told under ${name}: ${JSON.stringify(this.told).slice(0, 500)}`)
    })
    return this.told.splice(find(), 1)[0]!.payload
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection.stop()
  }
}

/** A client that is connected. */
export async function joinHub(url: string, options: HubOptions): Promise<HubClient> {
  const client = new HubClient(url, options)
  await client.connection.start()
  return client
}
