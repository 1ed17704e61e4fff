import type { ActorRef } from '../connection/event-members.ts'
import type { AppSnapshot, Typing as TypingFrame } from '../connection/frames.ts'
import { WithoutHistory } from './without-history.ts'

/** Typing ends by itself this long after the last frame. */
const endsAfterMs = 5_000

/** The users who are typing in an app. */
export class Typing extends WithoutHistory<ActorRef> {
  readonly #ends = new Map<number, ReturnType<typeof setTimeout>>()

  typing({ actor, is_typing }: TypingFrame): void {
    clearTimeout(this.#ends.get(actor.id))
    this.#ends.delete(actor.id)
    if (is_typing)
      this.#ends.set(
        actor.id,
        setTimeout(() => this.#remove(actor.id), endsAfterMs),
      )
    const isKnown = this.data().some(({ id }) => id === actor.id)
    if (is_typing && !isKnown) this.set([...this.data(), actor])
    else if (!is_typing && isKnown) this.#remove(actor.id)
  }

  snapshot({ typing = [] }: AppSnapshot): void {
    this.clear()
    for (const actor of typing) this.typing({ type: 'typing', app_id: this.feed.id!, actor, is_typing: true })
  }

  protected override clear(): void {
    for (const timer of this.#ends.values()) clearTimeout(timer)
    this.#ends.clear()
    super.clear()
  }

  #remove(actor: number): void {
    this.#ends.delete(actor)
    this.set(this.data().filter(({ id }) => id !== actor))
  }
}
