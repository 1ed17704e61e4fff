import type { AppEvent } from '../../../engine/event.ts'
import type { UserCache, User } from '../../../auth/user-cache.ts'
import type { AppState } from '../../../engine/state.ts'
import { pause, type Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { History } from '../../topics/history.ts'
import type { Frame } from '../protocol.ts'
import type { AppPolicy } from '../../app-policy.ts'
import type { Listings } from '../../listings.ts'
import type { Session } from '../../sessions/session.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { broadcast } from '../../broadcast.ts'

export interface SignalRUserStreamsParts {
  sessions: Sessions
  history: History
  userCache: UserCache
  actor: (person: User, origin: string) => object
  origin: () => string
  policy: Pick<AppPolicy, 'isListed'>
  clock: Clock
  log: Log
}

/** The pause before names are loaded again. A guess: PostgreSQL takes about as long to start. */
const retryMs = 1_000

/**
 * Which users get an event without a subscription to the app, and under which name. Clients list their apps again when
 * an app was created or they were added to one, so restoring an app is sent under these names too.
 */
interface UserEvent {
  recipients: 'members' | 'actor' | 'entity' | 'newcomer'
  name: string
}

const userEvents: Readonly<Record<string, UserEvent>> = {
  app_created: { recipients: 'members', name: 'app_created' },
  app_restored: { recipients: 'members', name: 'app_created' },
  message_created: { recipients: 'members', name: 'message_created' },
  member_added: { recipients: 'entity', name: 'member_added' },
  member_updated: { recipients: 'newcomer', name: 'member_added' },
  settings_changed: { recipients: 'newcomer', name: 'app_created' },
  app_marked: { recipients: 'actor', name: 'app_marked' },
}

/**
 * Events that hub clients subscribe to without naming an app. They are sent after the commit, without history and
 * without an order between apps; events that a client missed it reads over HTTP.
 */
export class SignalRUserStreams {
  readonly #parts: SignalRUserStreamsParts
  /** Event → user → the subscribed sessions. */
  readonly #subscribers = new Map<string, Map<number, Set<Session>>>()
  /** The events that wait, in order, for the names of users to be loaded. */
  #pending: Promise<void> | null = null

  constructor(parts: SignalRUserStreamsParts) {
    this.#parts = parts
  }

  /** False for a session that is not authenticated. */
  subscribe(session: Session, event: string): boolean {
    const { user } = session
    if (user === undefined) return false
    const users = this.#subscribers.get(event) ?? new Map<number, Set<Session>>()
    this.#subscribers.set(event, users.set(user, (users.get(user) ?? new Set()).add(session)))
    return true
  }

  unsubscribe(session: Session, event: string): void {
    const users = this.#subscribers.get(event)
    const sessions = users?.get(session.owner ?? 0)
    if (users === undefined || !sessions?.delete(session) || sessions.size > 0) return
    users.delete(session.owner!)
    if (users.size === 0) this.#subscribers.delete(event)
  }

  /** True where a session on this node is subscribed to the event, and the event needs no subscription to an app. */
  hasSubscribers(event: string): boolean {
    const concern = userEvents[event]
    return concern !== undefined && this.#subscribers.has(concern.name)
  }

  /** The users with a session that is subscribed to the event. */
  users(event: string): number[] {
    return [...(this.#subscribers.get(event)?.keys() ?? [])]
  }

  onClose(session: Session): void {
    for (const event of this.#subscribers.keys()) this.unsubscribe(session, event)
  }

  /** Sends a frame to the users' subscribed sessions, encoded once per codec. */
  send(users: Iterable<number>, event: string, frame: Frame): void {
    const wanted = this.#subscribers.get(event)
    if (wanted === undefined) return
    const sessions = Array.from(users).flatMap(user => [...(wanted.get(user) ?? [])])
    broadcast(sessions, frame, this.#parts.log)
  }

  /**
   * Sends a user a frame that concerns this user alone, in the form of hub events: its id is the number of the change,
   * its actor who caused it. The user is in memory.
   */
  sendToUser(user: number, frame: Frame, change: number): void {
    if (!this.#subscribers.get(frame.type)?.has(user)) return
    const { userCache, actor, origin } = this.#parts
    // Notifications have an actor; other frames are about the user's own actions.
    const about = frame.notification as { actor: object } | undefined
    const by = about?.actor ?? actor(userCache.show(user), origin())
    this.send([user], frame.type, { ...frame, type: 'personal', event: frame.type, id: change, actor: by })
  }

  /** Sends the events of a commit that were not sent before. `listings`: those of the commit. */
  onCommit(events: readonly AppEvent[], state: AppState, listings: Listings): void {
    if (this.#subscribers.size === 0) return
    for (const event of events) {
      const concern = userEvents[event.type]
      if (concern === undefined) continue
      // Where several events of a commit give a user the app, the first one is sent.
      if (concern.recipients === 'newcomer' && events.find(other => isSameChange(other, event)) !== event) continue
      const users = this.#recipientsOf(event, concern, { state, listings })
      if (users.length > 0) this.#sendEvent(state, event, concern.name, users)
    }
  }

  /** The subscribed users that the event concerns. */
  #recipientsOf(
    { actor_id, entity_id }: AppEvent,
    { recipients, name }: UserEvent,
    { state, listings }: { state: AppState; listings: Listings },
  ): number[] {
    const wanted = this.#subscribers.get(name)
    if (wanted === undefined) return []
    if (recipients === 'actor') return wanted.has(actor_id) ? [actor_id] : []
    const isListed = (user: number) => this.#parts.policy.isListed(state.app, state.member(user))
    if (recipients === 'newcomer' && !listings.get(entity_id)) return []
    if (recipients !== 'members') return wanted.has(entity_id) && isListed(entity_id) ? [entity_id] : []
    if (wanted.size < state.memberCount) return [...wanted.keys()].filter(isListed)
    return Array.from(state.members(), ({ user_id }) => user_id).filter(user => wanted.has(user) && isListed(user))
  }

  #sendEvent(state: AppState, event: AppEvent, name: string, users: number[]): void {
    const { history, log } = this.#parts
    const send = () => {
      const frame = history.toUserStreamFrame(event, state, name)
      if (frame !== null) this.send(users, name, frame)
    }
    if (this.#pending === null && history.hasNames(event)) return send()
    const sending = (this.#pending ?? Promise.resolve())
      .then(() => this.#loadNames(event))
      .then(send)
      .catch((error: unknown) => log.error({ app: event.app_id, error }, 'An event could not be sent to some users'))
      .finally(() => {
        if (this.#pending === sending) this.#pending = null
      })
    this.#pending = sending
  }

  /** Repeats until it succeeds or nothing is subscribed any more: clients could not know that they miss an event. */
  async #loadNames(event: AppEvent): Promise<void> {
    const { history, clock, log } = this.#parts
    while (this.#subscribers.size > 0) {
      try {
        return await history.loadNames([event])
      } catch (error) {
        log.warn({ app: event.app_id, error }, 'The names in an event cannot be read; it is sent later')
        await pause(clock, retryMs)
      }
    }
  }
}

/** True for events that are sent to one user under one name. */
function isSameChange(one: AppEvent, other: AppEvent): boolean {
  return one.entity_id === other.entity_id && userEvents[one.type]?.name === userEvents[other.type]?.name
}
