import type { Write } from '../../engine/command.ts'
import type { SharedLog } from '../../log/shared-log.ts'
import type { AppEvent } from '../../engine/event.ts'
import type { Sql } from '../../postgres/sql.ts'
import { insertDeliveries, listEnabled, type NewDelivery } from './store.ts'

/** What of an event is kept until it is sent: what the payload is made from. */
export interface DeliveryFacts {
  entity_id: number
  facts: Record<string, unknown> | null
  body: unknown
  created_at: Date
}

const nothing: Write[] = []

/**
 * Turns events into deliveries: knows which webhooks want which triggers, and queues a row for each of them in the
 * commit of the event. Webhooks change through the environment, whose rev every commit looks at under its lock, so
 * that an event is queued for exactly those that were enabled when it was decided.
 */
export class Registrations {
  readonly #sql: Sql
  #byTrigger: ReadonlyMap<string, readonly number[]> = new Map()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Nobody wants anything. */
  get isEmpty(): boolean {
    return this.#byTrigger.size === 0
  }

  /** Reads the webhooks, and again whenever they change. Call after the environment was started. */
  async follow(sharedLog: SharedLog): Promise<void> {
    sharedLog.listen(async ({ type }) => {
      if (type === 'webhook_changed' || type === 'everything') await this.#load()
    })
    await this.#load()
  }

  /** The rows that a commit writes for one of its events; see Follower. */
  toDeliveries(event: AppEvent): Write[] {
    const webhooks = this.#wanting(event)
    if (webhooks === undefined) return nothing
    const { app_id, rev, type, actor_id, created_at, kind } = event
    const facts = toFacts(event)
    const shared = { event_id: rev, trigger: kind.trigger!, action: type, app_id, actor_id, facts, created_at }
    return webhooks.map(webhook_id => {
      const row: NewDelivery = { webhook_id, ...shared }
      return { batch: insertDeliveries, row } as unknown as Write
    })
  }

  /** The webhooks that want one of these events, each once. */
  concerned(events: readonly AppEvent[]): Iterable<number> {
    if (this.isEmpty) return []
    return new Set(events.flatMap(event => this.#wanting(event) ?? []))
  }

  #wanting({ kind }: AppEvent): readonly number[] | undefined {
    if (this.isEmpty || kind.trigger === undefined) return undefined
    return this.#byTrigger.get(kind.trigger)
  }

  async #load(): Promise<void> {
    const byTrigger = new Map<string, number[]>()
    for (const { id, triggers } of await listEnabled(this.#sql)) {
      for (const trigger of triggers) byTrigger.set(trigger, [...(byTrigger.get(trigger) ?? []), id])
    }
    this.#byTrigger = byTrigger
  }
}

/** What was written in an item, and became its app's title, is never sent, so it is not kept either. */
function toFacts({ kind, entity_id, facts: all, body, created_at }: AppEvent): DeliveryFacts {
  const facts = all?.title === undefined ? all : { ...all, title: undefined }
  if (typeof body !== 'object' || body === null) return { entity_id, facts, body, created_at }
  const kept = kind.forQueue?.(body) ?? { ...body, text: undefined, html: undefined, plain: undefined }
  return { entity_id, facts, body: kept, created_at }
}
