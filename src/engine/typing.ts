import type { Clock } from '../lib/clock.ts'
import type { Commit } from './event.ts'

/** Called while a user is typing, at most once a second, and once when it has ended. */
export type TypingListener = (app: number, user: number, isTyping: boolean) => void

/** How long one report of a client counts. Clients report about every two seconds while it lasts. */
const typingMs = 5_000

/** The least time between two notifications for one user in one app: a client in a loop must not flood the others. */
const notifyMs = 1_000

/** Typists at one time. A guess: far above what people do, and below 20 MB. */
const capacity = 100_000

interface Typist {
  readonly app: number
  readonly user: number
  readonly notifiedAt: number
  readonly endsAt: number
}

/**
 * The users who are typing, by app. Kept in memory alone: an entry ends five seconds after the last report, and when
 * the user has posted something. One timer serves all entries. Beyond the capacity the entry with the oldest report
 * ends early; when the process dies all are lost, until clients report again.
 */
export class Typing {
  readonly #clock: Clock
  readonly #listeners: TypingListener[] = []
  /** In the order of their last report, so that the first one ends next. */
  readonly #typists = new Map<string, Typist>()
  #isTimed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  onTyping(listener: TypingListener): void {
    this.#listeners.push(listener)
  }

  /** Reports that a user is typing in an app. The caller has checked the user's access. */
  start(app: number, user: number): void {
    const key = `${app}:${user}`
    const now = this.#clock.now()
    const before = this.#typists.get(key)
    const isQuiet = before !== undefined && now - before.notifiedAt < notifyMs
    this.#typists.delete(key)
    this.#typists.set(key, { app, user, notifiedAt: isQuiet ? before.notifiedAt : now, endsAt: now + typingMs })
    if (this.#typists.size > capacity) this.#end(this.#typists.keys().next().value!)
    if (!this.#isTimed) this.#wake(typingMs)
    if (!isQuiet) this.#notify(app, user, true)
  }

  /** Ends the typing of users who have posted something. */
  readonly onCommit = ({ events }: Pick<Commit, 'events'>): void => {
    if (this.#typists.size === 0) return
    for (const { kind, app_id, actor_id } of events) if (kind.isActivity) this.#end(`${app_id}:${actor_id}`)
  };

  /** The users who are typing in an app now. */
  in(app: number): number[] {
    const now = this.#clock.now()
    return [...this.#typists.values()].flatMap(one => (one.app === app && one.endsAt > now ? [one.user] : []))
  }

  #end(key: string): void {
    const typist = this.#typists.get(key)
    if (typist === undefined) return
    this.#typists.delete(key)
    this.#notify(typist.app, typist.user, false)
  }

  #wake(delayMs: number): void {
    this.#isTimed = true
    this.#clock.after(delayMs, () => this.#sweep())
  }

  #sweep(): void {
    const now = this.#clock.now()
    this.#isTimed = false
    for (const [key, { endsAt }] of this.#typists) {
      if (endsAt > now) return this.#wake(endsAt - now)
      this.#end(key)
    }
  }

  #notify(app: number, user: number, isTyping: boolean): void {
    for (const listener of this.#listeners) listener(app, user, isTyping)
  }
}
