import { Apps } from './collections/personal/apps.ts'
import { Notifications } from './collections/personal/notifications.ts'
import { Presence } from './collections/personal/presence.ts'
import { UnreadApps } from './collections/personal/unread-apps.ts'
import { App } from './app.ts'
import { Client, type ClientOptions } from './client.ts'
import type { ConnectionStatus } from './connection/connection.ts'
import { toParleyError } from './http/error.ts'
import type { Keeper } from './store/kept.ts'
import { Api, type OptionsOf } from './http/api.ts'
import type { Blob as StoredBlob, User, UserSummary } from './http/paths.ts'
import { upload, type NativeFile, type UploadOptions } from './http/upload.ts'
import type { Readable } from './store/collection.ts'

/** A client of one server, for one user. */
export class Parley {
  /** The whole HTTP API. */
  readonly http: Api
  /** The state of the connection. */
  readonly connection: Readable<ConnectionStatus>
  /** The apps of the user, those with the newest activity first. */
  readonly apps: Apps
  /** The apps in which something is unread. */
  readonly unread: UnreadApps
  readonly notifications: Notifications
  /** Who is there. */
  readonly presence: Presence
  readonly #client: Client
  readonly #apps = new Map<string, App>()

  constructor(options: ClientOptions) {
    this.#client = new Client(options)
    const { http, connection } = this.#client
    this.http = new Api(http)
    this.apps = new Apps(this.#client)
    this.unread = new UnreadApps(this.#client)
    this.notifications = new Notifications(this.#client)
    this.presence = new Presence(this.#client)
    this.connection = {
      get: () => connection.status,
      subscribe: listener => {
        queueMicrotask(() => listener(connection.status))
        return connection.watch(() => listener(connection.status))
      },
    }
  }

  /** An app, by its id or uid: the same object each time. */
  app(ref: string | number): App {
    const name = String(ref)
    let app = this.#apps.get(name)
    if (app === undefined) this.#apps.set(name, (app = new App(this.#client, name)))
    return app
  }

  readonly users = {
    /** All users that the user may see, page by page. */
    list: (query: OptionsOf<'/api/users', 'get'>['query'] = {}): AsyncIterable<User | UserSummary> =>
      this.http.list('/api/users', { query }),
    get: (user: string | number) => this.http.get('/api/users/{user}', { path: { user } }),
    /** The user of the token. */
    me: () => this.http.get('/api/user'),
  }

  /** Uploads a file; its id makes it an attachment (`blobs`) or a file of an app. */
  upload(file: Blob | NativeFile, options?: UploadOptions): Promise<StoredBlob> {
    return upload(this.#client.http, file, options)
  }

  /** Keeps lists beyond the life of the page, and sends what an earlier one has not sent: see `@parley/client/idb`. */
  keep(keeper: Keeper): void {
    this.#client.keeper = keeper
    for (const { app, type, parent, writes } of keeper.kept)
      if (writes.length > 0) void (type === 'comment' ? this.app(app).comments(parent) : this.app(app)[`${type}s`])
  }

  /** Says what went wrong on the console, each thing once. */
  warn(error: unknown): void {
    this.#client.warn(toParleyError(error))
  }

  /** Ends the connection and all collections for good. */
  close(): void {
    this.#client.close()
  }
}

/**
 *     const parley = createParley({ url: 'https://chat.example', token: () => fetch('/token').then(r => r.text()) })
 *     const garden = parley.app('garden')
 *     const stop = garden.messages.subscribe(list => render(list.data, list.status))
 *     await garden.messages.send({ text: 'Hello' })
 */
export function createParley(options: ClientOptions): Parley {
  return new Parley(options)
}
