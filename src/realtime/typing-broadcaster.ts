import type { UserCache, User } from '../auth/user-cache.ts'
import type { Typing, TypingListener } from '../engine/typing.ts'
import type { Log } from '../lib/log.ts'
import type { FanOut } from './fan-out.ts'
import { typing } from './protocols/frames.ts'

interface TypingBroadcasterParts {
  typing: Pick<Typing, 'in'>
  userCache: UserCache
  fanOut: FanOut
  actor: (person: User, origin: string) => object
  origin: () => string
  log: Log
}

/** Returns a listener that sends an app's live subscribers that a user types or has stopped typing. */
export function broadcastTyping(parts: TypingBroadcasterParts): TypingListener {
  const { userCache, fanOut, actor, origin, log } = parts
  const onTyping: TypingListener = (app, user, isTyping) => {
    if (!fanOut.hasSubscribers(app)) return
    const person = userCache.find(user)
    if (person !== undefined) fanOut.broadcastEphemeral(app, typing(app, actor(person, origin()), isTyping))
    // A user who types on another node may not be in memory here.
    else if (isTyping) void loadAndBroadcast(app, user)
  }
  /** Loads the user, and broadcasts unless the typing has stopped by then. Never rejects. */
  const loadAndBroadcast = async (app: number, user: number) => {
    try {
      const person = await userCache.get(user)
      if (person !== undefined && parts.typing.in(app).includes(user)) onTyping(app, user, true)
    } catch (error) {
      log.warn({ app, error }, 'Who is typing could not be sent; the next repetition will be')
    }
  }
  return onTyping
}
