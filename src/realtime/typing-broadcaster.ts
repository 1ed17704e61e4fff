import type { UserCache, User } from '../auth/user-cache.ts'
import type { Typing } from '../engine/typing.ts'
import type { Log } from '../lib/log.ts'
import type { FanOut } from './fan-out.ts'
import { typing } from './protocols/frames.ts'

export interface TypingBroadcasterParts {
  typing: Pick<Typing, 'in'>
  userCache: UserCache
  fanOut: FanOut
  actor: (person: User, origin: string) => object
  origin: () => string
  log: Log
}

/** Sends an app's live subscribers that a user types or has stopped typing. */
export class TypingBroadcaster {
  readonly #parts: TypingBroadcasterParts

  constructor(parts: TypingBroadcasterParts) {
    this.#parts = parts
  }

  /** A listener for `Typing.listen`. */
  onTyping(app: number, user: number, isTyping: boolean): void {
    const { userCache, fanOut, actor, origin } = this.#parts
    if (!fanOut.hasSubscribers(app)) return
    const person = userCache.find(user)
    if (person !== undefined) fanOut.broadcastEphemeral(app, typing(app, actor(person, origin()), isTyping))
    // A user who types on another node may not be in memory here.
    else if (isTyping) void this.#loadAndBroadcast(app, user)
  }

  /** Loads the user, and broadcasts unless the typing has stopped by then. Never rejects. */
  async #loadAndBroadcast(app: number, user: number): Promise<void> {
    const { userCache, typing, log } = this.#parts
    try {
      const person = await userCache.get(user)
      if (person !== undefined && typing.in(app).includes(user)) this.onTyping(app, user, true)
    } catch (error) {
      log.warn({ app, error }, 'Who is typing could not be sent; the next repetition will be')
    }
  }
}
