import { Connection, type ConnectionStatus } from './connection/connection.ts'
import type { ActorRef } from './connection/event-members.ts'
import type { WebSocketType } from './connection/socket.ts'
import { toParleyError, type ParleyError } from './http/error.ts'
import { Http } from './http/http.ts'
import { Token, type TokenSource } from './http/token.ts'
import type { Keeper } from './store/kept.ts'
import { Feeds } from './store/feeds.ts'

export interface ClientOptions {
  /** The URL of the server, such as `https://chat.example`. */
  url: string
  /**
   * An access token, or a function that returns one, such as from an endpoint of yours; with `isRefused` a new one, because
   * the server did not take the last one.
   */
  token: TokenSource
  /** Default: the global WebSocket, which browsers, Node.js from 22 on, Bun, Deno and React Native have. */
  WebSocket?: WebSocketType | undefined
  /** Default: the global fetch. */
  fetch?: typeof fetch | undefined
}

/**
 * What everything else is made of: requests, one connection, and the feeds of apps. The connection is opened when
 * something is subscribed to, and closed when nothing is any more.
 */
export class Client {
  readonly http: Http
  readonly connection: Connection
  readonly feeds: Feeds
  /** Where lists are kept beyond the life of the page. */
  keeper: Keeper | undefined
  #user: ActorRef | undefined
  #warned = new Set<string>()

  constructor({ url, token: source, WebSocket, fetch }: ClientOptions) {
    const token = new Token(source)
    this.http = new Http(url, token, fetch)
    this.connection = new Connection({ url, token, WebSocket, warn: error => this.warn(error) })
    this.feeds = new Feeds(this.connection)
    this.connection.listen({ opened: () => this.#opened() })
  }

  /** The user, as far as is known. */
  user(): ActorRef | undefined {
    return this.#user
  }

  /** What keeps the connection from being open. */
  trouble(): ParleyError | undefined {
    const { status } = this.connection
    return 'error' in status ? status.error : undefined
  }

  /** Ends the connection, and whatever is tried again and again, for good. */
  close(): void {
    this.connection.close()
    this.http.close()
  }

  /** Says each thing once. */
  warn(error: ParleyError): void {
    if (this.#warned.has(error.message)) return
    this.#warned.add(error.message)
    console.warn(`Parley: ${error.message}`)
  }

  #opened(): void {
    // What could not be sent is sent now.
    this.http.wake()
    const id = (this.connection.status as ConnectionStatus & { user: number }).user
    if (this.#user?.id === id) return
    this.#user = { id, name: '' }
    void this.http
      .request<ActorRef>('GET', '/api/user')
      .then(({ id, uid, name, avatar_url, is_agent }) => {
        // As JSON would have it: members without a value are read as absent ones.
        this.#user = { id, uid, name, avatar_url, is_agent } as ActorRef
      })
      .catch((error: unknown) => this.warn(toParleyError(error)))
  }
}

/** A client without collections: each is added by a function, such as `messagesOf`, so that a page loads no more than it uses. */
export function connect(options: ClientOptions): Client {
  return new Client(options)
}
