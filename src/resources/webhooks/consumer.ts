import type { Write } from '../../engine/command.ts'
import type { SharedLog } from '../../log/shared-log.ts'
import type { AppEvent } from '../../engine/event.ts'
import type { Sql } from '../../postgres/sql.ts'
import { insertDeliveries, type NewDelivery } from './delivery/record-store.ts'
import { listEnabled } from './store.ts'

/** The facts of an event from which the payload is made when it is sent. */
export interface DeliveryFacts {
  entity_id: number
  facts: Record<string, unknown> | null
  body: unknown
  created_at: Date
}

const nothing: Write[] = []

/**
 * Turns events into deliveries: knows the triggers of all webhooks, and queues a row for each matching webhook in the
 * event's commit. Webhooks change through the shared log, whose rev every commit checks under its lock, so an event is
 * queued for exactly the webhooks enabled when it was decided.
 */
export class Registrations {
  readonly #sql: Sql
  #byTrigger: ReadonlyMap<string, readonly number[]> = new Map()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Reads the webhooks, now and whenever they change. Call it after the shared log was started. */
  async follow(sharedLog: SharedLog): Promise<void> {
    sharedLog.listen(async ({ type }) => {
      if (type === 'webhook_changed' || type === 'everything') await this.#load()
    })
    await this.#load()
  }

  /** The rows that a commit writes for one of its events; see SameCommitProjection. */
  readonly toDeliveries = (event: AppEvent): Write[] => {
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

  /** The webhooks that any of these events triggers, each once. */
  concerned(events: readonly AppEvent[]): Iterable<number> {
    if (this.#byTrigger.size === 0) return []
    return new Set(events.flatMap(event => this.#wanting(event) ?? []))
  }

  #wanting({ kind }: AppEvent): readonly number[] | undefined {
    return kind.trigger === undefined ? undefined : this.#byTrigger.get(kind.trigger)
  }

  async #load(): Promise<void> {
    const byTrigger = new Map<string, number[]>()
    for (const { id, triggers } of await listEnabled(this.#sql)) {
      for (const trigger of triggers) byTrigger.set(trigger, [...(byTrigger.get(trigger) ?? []), id])
    }
    this.#byTrigger = byTrigger
  }
}

/** Text of an item, and the app title that quotes it, is never sent, so it is not stored either. */
function toFacts({ kind, entity_id, facts: all, body, created_at }: AppEvent): DeliveryFacts {
  const facts = all?.title === undefined ? all : { ...all, title: undefined }
  if (typeof body !== 'object' || body === null) return { entity_id, facts, body, created_at }
  const kept = kind.forQueue?.(body) ?? { ...body, text: undefined, html: undefined, plain: undefined }
  return { entity_id, facts, body: kept, created_at }
}
