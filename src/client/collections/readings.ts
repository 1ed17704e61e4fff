import type { ParleyError } from '../http/error.ts'
import type { Answer, Http, Query } from '../http/http.ts'
import type { RealtimeEvent } from '../connection/frames.ts'
import type { Feed } from '../store/feed.ts'

export interface ReadingsParts {
  http: Http
  feed: Feed
  /** Applies an event that a reading has not got. */
  apply: (event: RealtimeEvent) => void
  /** A reading is tried once more: `error` says what was in the way. */
  onRetry: () => void
}

/** How long an answer that is too old is waited out. */
const againMs = 300

/** Reads parts of an app over HTTP while its events go on, so that each answer is followed by the events that it has not got. */
export class Readings {
  /** What is in the way of a reading, or has ended one; undefined again after the next answer. */
  error: ParleyError | undefined
  readonly #parts: ReadingsParts
  /** Events since the oldest reading that is under way, and how many readings there are. */
  #heard: RealtimeEvent[] = []
  #count = 0
  #generation = 0

  constructor(parts: ReadingsParts) {
    this.#parts = parts
  }

  /** Notes an event of the app. */
  hear(event: RealtimeEvent): void {
    if (this.#count > 0) this.#heard.push(event)
  }

  /** What was asked for before does not fit what is known now: it is read once more. */
  restart(): void {
    this.#generation++
  }

  /** Reads something of the app, and applies what has happened since to what `take` makes of it. */
  async read<Body>(path: string, query: Query, take: (answer: Answer<Body>, rev: number) => void): Promise<void> {
    this.#count++
    try {
      for (;;) {
        const generation = this.#generation
        const isOld = () => generation !== this.#generation
        const found = await this.#readNow<Body>(path, query).catch((error: unknown) => {
          if (!isOld()) throw error
        })
        if (found === undefined || isOld()) continue
        const { answer, rev } = found
        this.error = undefined
        take(answer, rev)
        for (const event of this.#heard) if (event.rev > rev) this.#parts.apply(event)
        return
      }
    } finally {
      if (--this.#count === 0) this.#heard = []
    }
  }

  /** As it is now, or later than the feed was: an answer that is older, or of another history, is asked for again. */
  async #readNow<Body>(path: string, query: Query): Promise<{ answer: Answer<Body>; rev: number }> {
    const { http, feed } = this.#parts
    const onRetry = (error: ParleyError) => {
      this.error = error
      this.#parts.onRetry()
    }
    for (;;) {
      const from = feed.rev ?? 0
      const answer = await http.send<Body>('GET', path, { query, onRetry, attempts: Infinity })
      const { rev = from, epoch } = answer
      const isHistory = epoch === undefined || feed.epoch === undefined || epoch === feed.epoch
      if (rev >= from && isHistory) return { answer, rev }
      await new Promise(resolve => setTimeout(resolve, againMs))
    }
  }
}
