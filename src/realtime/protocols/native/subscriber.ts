import type { Principal } from '../../../auth/principal.ts'
import { toReference } from '../../../api/reference.ts'
import { NotFound, problem } from '../../../lib/errors.ts'
import { FairQueue } from '../../../lib/fair-queue.ts'
import type { Log } from '../../../lib/log.ts'
import type { FanOut } from '../../fan-out.ts'
import { closeCodes, type Session } from '../../sessions/session.ts'
import type { RealtimeSettings } from '../../settings.ts'
import { refusal, type Asked } from '../frames.ts'

export const TooManySubscriptions = problem(429, 'too-many-subscriptions', 'You are subscribed to too many apps.')

/** The ids of apps by uid as it is given, as the user may name them; no entry for one that no app has. */
export type FindByUid = (uids: string[], by: Principal) => Promise<ReadonlyMap<string, number>>

interface SubscriberParts {
  fanOut: Pick<FanOut, 'subscribe'>
  findByUid: FindByUid
  settings: Pick<RealtimeSettings, 'subscriptions'>
  log: Log
}

/** Look-ups at one time. A guess: each takes a millisecond, or ten for as many uids as a frame can have. */
const findsAtOnce = 2

/** Begins the subscriptions that clients of the native protocol ask for, by id or by uid. */
export class Subscriber {
  readonly #parts: SubscriberParts
  /** One at a time for each user, so that of two subscriptions to one app the later one stays. */
  readonly #finds = new FairQueue({ atOnce: findsAtOnce, ofOne: () => 1 })

  constructor(parts: SubscriberParts) {
    this.#parts = parts
  }

  /** Subscribes to each app for itself. All uids are looked up together. */
  subscribe(session: Session, asked: readonly Asked[]): void {
    const named = new Map<string, Asked[]>()
    for (const one of asked) {
      const { id, name } = one.app === undefined ? { id: one.app_id!, name: null } : toReference(one.app)
      if (id !== null) this.#begin(session, id, one)
      else named.set(name, [...(named.get(name) ?? []), one])
    }
    if (named.size > 0) void this.#finds.add(session.owner ?? 0, () => this.#beginNamed(session, named))
  }

  /** Never rejects: where the look-up fails, the client is to come back. */
  async #beginNamed(session: Session, named: ReadonlyMap<string, readonly Asked[]>): Promise<void> {
    const { state } = session
    if (state.state !== 'open') return
    try {
      const found = await this.#parts.findByUid([...named.keys()], state.principal)
      for (const [uid, asked] of named) for (const one of asked) this.#begin(session, found.get(uid) ?? null, one)
    } catch (error) {
      this.#parts.log.warn({ error }, 'Apps could not be found by uid')
      session.close(closeCodes.failed, 'reconnect')
    }
  }

  /** `id`: null where no app has the name. */
  #begin(session: Session, id: number | null, asked: Asked): void {
    const { fanOut, settings } = this.#parts
    const { app_id, app, request_id: request, ...terms } = asked
    const { subscriptions } = session
    const about = { app_id, app, request_id: request }
    if (id === null) return session.send(refusal(NotFound(), about))
    if (!subscriptions.has(id) && subscriptions.size >= settings.subscriptions)
      return session.send(refusal(TooManySubscriptions(), about))
    fanOut.subscribe(session, id, { ...terms, request, ref: app })
  }
}
