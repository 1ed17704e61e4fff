import type { ActorRef } from '../connection/event-members.ts'
import type { AppSnapshot, Typing as TypingFrame } from '../connection/frames.ts'
import type { Feed } from '../store/feed.ts'
import { WithoutHistory } from './without-history.ts'

/** Frames are repeated before that. */
const endsAfterMs = 5_000

/** The users who are typing in an app. */
export class Typing extends WithoutHistory<ActorRef> {
  constructor(feed: Feed) {
    super(feed, endsAfterMs)
  }

  typing({ actor, is_typing }: TypingFrame): void {
    if (is_typing) this.put(actor.id, this.row(actor.id) ?? actor)
    else this.remove(actor.id)
  }

  snapshot({ typing = [] }: AppSnapshot): void {
    this.clear()
    for (const actor of typing) this.put(actor.id, actor)
  }
}
