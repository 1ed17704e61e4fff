import type { Clock } from '../lib/clock.ts'
import type { AppEvent } from './event.ts'

/** Called when a user types (again and again while it lasts) and once when it has ended. */
export type TypingListener = (app: number, user: number, isTyping: boolean) => void

/** As the API says; clients repeat themselves about every two seconds. */
const typingMs = 5_000

/** Repetitions within this time are kept but not passed on: a client in a loop must not flood the others. */
const quietMs = 1_000

/** Typists at one time. A guess: far above what people do, and below 20 MB. */
const capacity = 100_000

interface Typist {
  readonly app: number
  readonly user: number
  readonly toldAt: number
  readonly endsAt: number
}

/**
 * Who is typing where. Only in memory: forgotten after five seconds, and when the user has written something. One timer
 * for all. When too many type at once, the ones that began first are forgotten early; if the process dies, all are.
 */
export class Typing {
  readonly #clock: Clock
  readonly #listeners: TypingListener[] = []
  /** In the order of their last repetition, so the first one is the next to end. */
  readonly #typists = new Map<string, Typist>()
  #isTimed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  onTyping(listener: TypingListener): void {
    this.#listeners.push(listener)
  }

  /** The user is typing in the app. The caller has checked that they may. */
  start(app: number, user: number): void {
    const key = `${app}:${user}`
    const now = this.#clock.now()
    const before = this.#typists.get(key)
    const isQuiet = before !== undefined && now - before.toldAt < quietMs
    this.#typists.delete(key)
    this.#typists.set(key, { app, user, toldAt: isQuiet ? before.toldAt : now, endsAt: now + typingMs })
    if (this.#typists.size > capacity) this.#end(this.#typists.keys().next().value!)
    if (!this.#isTimed) this.#wake(typingMs)
    if (!isQuiet) this.#notify(app, user, true)
  }

  /** Ends the typing of the authors of new items. For the listeners of `Apps`. */
  onCommit(events: readonly AppEvent[]): void {
    if (this.#typists.size === 0) return
    for (const { kind, app_id, actor_id } of events) if (kind.isActivity) this.#end(`${app_id}:${actor_id}`)
  }

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
