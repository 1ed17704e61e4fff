import type { AppEvent } from '../../actors/event.ts'
import type { People, Person } from '../../actors/people.ts'
import type { AppRow, AppState, MemberRow } from '../../actors/state.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { History } from '../channels/history.ts'
import type { Frame } from '../protocol.ts'
import type { Session } from '../session.ts'
import type { Sessions } from '../sessions.ts'
import { tellEach } from '../telling.ts'

export interface StreamsParts {
  sessions: Sessions
  history: History
  people: People
  actor: (person: Person, origin: string) => object
  origin: () => string
  /** True where an app is in the lists of somebody with this relation to it. */
  isListed: (app: AppRow, own: MemberRow | undefined) => boolean
  clock: Clock
  log: Log
}

/** Before names are asked for again. A guess: PostgreSQL takes about as long to start. */
const retryMs = 1_000

/**
 * Whom an event concerns, of all who are told without a subscription to the app; and what it is told as. Clients ask
 * for their apps again when one was made, or they were added to it: so that is what they hear where one came back.
 */
interface Concern {
  whom: 'members' | 'actor' | 'entity' | 'newcomer'
  name: string
}

const concerns: Readonly<Record<string, Concern>> = {
  app_created: { whom: 'members', name: 'app_created' },
  app_restored: { whom: 'members', name: 'app_created' },
  message_created: { whom: 'members', name: 'message_created' },
  member_added: { whom: 'entity', name: 'member_added' },
  member_updated: { whom: 'newcomer', name: 'member_added' },
  settings_changed: { whom: 'newcomer', name: 'app_created' },
  app_marked: { whom: 'actor', name: 'app_marked' },
}

/**
 * What hub clients hear without naming an app: what concerns their user. Like the events of apps it is told after the
 * commit; it has no history and no order between apps. What a client missed it reads over HTTP.
 */
export class Streams {
  readonly #parts: StreamsParts
  /** Event → user → the sessions that want to hear. */
  readonly #wanted = new Map<string, Map<number, Set<Session>>>()
  /** Events that wait for somebody's name, and those that came after them. */
  #line: Promise<void> | null = null

  constructor(parts: StreamsParts) {
    this.#parts = parts
  }

  /** False for a session that belongs to nobody. */
  subscribe(session: Session, event: string): boolean {
    const { user } = session
    if (user === undefined) return false
    const users = this.#wanted.get(event) ?? new Map<number, Set<Session>>()
    this.#wanted.set(event, users.set(user, (users.get(user) ?? new Set()).add(session)))
    return true
  }

  unsubscribe(session: Session, event: string): void {
    const users = this.#wanted.get(event)
    const sessions = users?.get(session.owner ?? 0)
    if (users === undefined || !sessions?.delete(session) || sessions.size > 0) return
    users.delete(session.owner!)
    if (users.size === 0) this.#wanted.delete(event)
  }

  /** True where somebody here wants to hear of such events, and they are told without a subscription to the app. */
  isWanted(event: string): boolean {
    const concern = concerns[event]
    return concern !== undefined && this.#wanted.has(concern.name)
  }

  /** The users who want to hear of such events. */
  users(event: string): number[] {
    return [...(this.#wanted.get(event)?.keys() ?? [])]
  }

  leave(session: Session): void {
    for (const event of this.#wanted.keys()) this.unsubscribe(session, event)
  }

  /** Tells those sessions of the users that want to hear of such an event; encoded once for each form. */
  tell(users: Iterable<number>, event: string, frame: Frame): void {
    const wanted = this.#wanted.get(event)
    if (wanted === undefined) return
    const sessions = Array.from(users).flatMap(user => [...(wanted.get(user) ?? [])])
    tellEach(sessions, frame, this.#parts.log)
  }

  /**
   * Tells a user what concerns it alone, in the form that events have on the hub: with the number of the change as id,
   * and who did it. The user is in memory.
   */
  tellOwn(user: number, frame: Frame, change: number): void {
    if (!this.#wanted.get(frame.type)?.has(user)) return
    const { people, actor, origin } = this.#parts
    // Of notifications; other frames concern the user's own doing.
    const about = frame.notification as { actor: object } | undefined
    const by = about?.actor ?? actor(people.show(user), origin())
    this.tell([user], frame.type, { ...frame, type: 'personal', event: frame.type, id: change, actor: by })
  }

  /** Takes what was committed, as `Apps.listen` gives it, or the first event of an app. */
  hear(state: AppState, events: readonly AppEvent[]): void {
    if (this.#wanted.size === 0) return
    for (const event of events) {
      const concern = concerns[event.type]
      if (concern === undefined) continue
      // It takes all of them for somebody to have the app now; the first one tells of it.
      if (concern.whom === 'newcomer' && events.find(other => isSameNews(other, event)) !== event) continue
      const users = this.#concerned(state, event, concern)
      if (users.length > 0) this.#tellOf(state, event, concern.name, users)
    }
  }

  /** Those here who want to hear, and whom it concerns. */
  #concerned(state: AppState, { actor_id, entity_id }: AppEvent, { whom, name }: Concern): number[] {
    const wanted = this.#wanted.get(name)
    if (wanted === undefined) return []
    if (whom === 'actor') return wanted.has(actor_id) ? [actor_id] : []
    const { app, told, changed } = state
    const isListed = (user: number) => this.#parts.isListed(app, state.member(user))
    const before = () => (changed.has(entity_id) ? changed.get(entity_id) : state.member(entity_id))
    if (whom === 'newcomer' && this.#parts.isListed(told, before())) return []
    if (whom !== 'members') return wanted.has(entity_id) && isListed(entity_id) ? [entity_id] : []
    if (wanted.size < state.memberCount) return [...wanted.keys()].filter(isListed)
    return Array.from(state.members(), ({ user_id }) => user_id).filter(user => wanted.has(user) && isListed(user))
  }

  #tellOf(state: AppState, event: AppEvent, name: string, users: number[]): void {
    const { history, log } = this.#parts
    const tell = () => {
      const frame = history.toPersonalFrame(event, state, name)
      if (frame !== null) this.tell(users, name, frame)
    }
    if (this.#line === null && history.hasNames(event)) return tell()
    const line = (this.#line ?? Promise.resolve())
      .then(() => this.#loadNames(event))
      .then(tell)
      .catch((error: unknown) => log.error({ app: event.app_id, error }, 'Somebody could not be told of an event'))
      .finally(() => {
        if (this.#line === line) this.#line = null
      })
    this.#line = line
  }

  /** Again and again until it succeeds, or nobody wants to hear any more: who it is told to does not know to ask. */
  async #loadNames(event: AppEvent): Promise<void> {
    const { history, clock, log } = this.#parts
    while (this.#wanted.size > 0) {
      try {
        return await history.loadNames([event])
      } catch (error) {
        log.warn({ app: event.app_id, error }, 'The names in an event cannot be read; it is told of later')
        await new Promise<void>(resolve => clock.after(retryMs, resolve))
      }
    }
  }
}

/** True for events that tell the same user the same. */
function isSameNews(one: AppEvent, other: AppEvent): boolean {
  return one.entity_id === other.entity_id && concerns[one.type]?.name === concerns[other.type]?.name
}
