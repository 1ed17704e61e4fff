import type { Client } from '../../client.ts'
import { LiveCollection, type Condition } from '../../store/collection.ts'

const nobody: ReadonlySet<number> = new Set()

/** The ids of the users who are active now, of those that the user may see. After a cut, those from before it are shown. */
export class Presence extends LiveCollection<ReadonlySet<number>> {
  readonly #client: Client
  #users = nobody
  #isLive = false

  constructor(client: Client) {
    super()
    this.#client = client
  }

  protected start(): () => void {
    const { connection, feeds } = this.#client
    const ask = (is_wanted: boolean) => connection.send({ type: 'online', is_wanted })
    const stop = feeds.listen({
      opened: () => ask(true),
      lost: () => this.#set(this.#users, false),
      frame: frame => frame.type === 'online' && this.#set(new Set(frame.users), true),
    })
    const release = connection.hold()
    ask(true)
    return () => {
      ask(false)
      this.#isLive = false
      stop()
      release()
    }
  }

  protected data(): ReadonlySet<number> {
    return this.#users
  }

  protected condition(): Condition {
    if (this.#isLive) return { status: 'live' }
    const error = this.#client.trouble()
    if (this.#client.connection.status.state === 'closed') return { status: 'ended', reason: 'closed', error }
    return { status: this.#users === nobody ? 'loading' : 'stale', reason: 'offline', error }
  }

  #set(users: ReadonlySet<number>, isLive: boolean): void {
    this.#users = users
    this.#isLive = isLive
    this.changed()
  }
}
