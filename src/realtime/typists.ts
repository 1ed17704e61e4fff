import type { People, Person } from '../actors/people.ts'
import type { Typing } from '../actors/typing.ts'
import type { Log } from '../lib/log.ts'
import type { FanOut } from './fan-out.ts'
import { typing } from './frames.ts'

export interface TypistsParts {
  typing: Pick<Typing, 'in'>
  people: People
  fanOut: FanOut
  actor: (person: Person, origin: string) => object
  origin: () => string
  log: Log
}

/** Tells those who are live in an app that somebody types there, or no longer does. */
export class Typists {
  readonly #parts: TypistsParts

  constructor(parts: TypistsParts) {
    this.#parts = parts
  }

  /** As `Typing.listen` gives it. */
  hear(app: number, user: number, isTyping: boolean): void {
    const { people, fanOut, actor, origin } = this.#parts
    if (!fanOut.isHeard(app)) return
    const person = people.find(user)
    if (person !== undefined) fanOut.mention(app, typing(app, actor(person, origin()), isTyping))
    // Whoever types at another node may never have been met here.
    else if (isTyping) void this.#meet(app, user)
  }

  /** Tells of somebody who is not in memory, unless they have stopped typing by then. Never rejects. */
  async #meet(app: number, user: number): Promise<void> {
    const { people, typing, log } = this.#parts
    try {
      const person = await people.get(user)
      if (person !== undefined && typing.in(app).includes(user)) this.hear(app, user, true)
    } catch (error) {
      log.warn({ app, error }, 'Nobody could be told who is typing; the next repetition will tell')
    }
  }
}
