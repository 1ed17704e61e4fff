import { ipCheck } from '../../src/egress/ip-policy.ts'
import { Deliverer } from '../../src/resources/webhooks/delivery/deliverer.ts'
import { Egress } from '../../src/egress/egress.ts'
import { ReceiverPacer } from '../../src/resources/webhooks/delivery/receiver-pacer.ts'
import { forgetDeliveries } from '../../src/resources/webhooks/delivery/retention.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { Vault } from '../../src/lib/vault.ts'
import { openSql, type Sql } from '../../src/postgres/sql.ts'
import { createDatabase } from './database.ts'
import type { Receiver } from './receiver.ts'

type NodeOptions = Partial<ConstructorParameters<typeof Deliverer>[0]>

/** A database with webhooks and a queue, and nodes that deliver from it: the payload of an event is its id. */
export async function createOutbox() {
  const database = await createDatabase()
  const sql = open(database.url)
  const parts: { node: Deliverer; sql: Sql }[] = []
  return {
    sql,
    register: ({ url }: Receiver) => register(sql, url),
    registerUrl: (url: string) => register(sql, url),
    /** Queues deliveries of these events, in this order; all of one app, unless `app` says of which. */
    async queue(webhook: number, events: number[], db: Pick<Sql, 'unsafe'> = sql, app = (_event: number) => 1) {
      const rows = events.map(
        event => `(${webhook}, ${event}, 'messages', 'message_created', ${app(event)}, 1, '{}', now())`,
      )
      await db.unsafe(`
        insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, facts, created_at)
        values ${rows.join()}`)
    },
    node(options: NodeOptions = {}): Deliverer {
      const own = open(database.url)
      const node = new Deliverer({
        sql: own,
        egress: new Egress({ isAllowed: ipCheck({ allowsPrivate: true }) }),
        vault: new Vault([]),
        limiter: new ReceiverPacer(1_000),
        compose: async ({ event_id }) => JSON.stringify({ id: event_id }),
        userAgent: 'ServiceBot/0.0.0',
        deadlineMs: 3_000,
        parallel: 8,
        clock: systemClock,
        log: createLog('error'),
        ...options,
      })
      parts.push({ node, sql: own })
      return node
    },
    /** One round of what is done every minute; returns what it warns of. */
    async forget(past = new Date()): Promise<unknown[]> {
      const { signal } = new AbortController()
      const warnings: unknown[] = []
      const log = createLog('warn', line => void warnings.push(JSON.parse(line)))
      await forgetDeliveries({ sql, past: async () => past, log, signal })
      return warnings
    },
    async statuses(webhook: number): Promise<Record<string, number>> {
      const rows = await sql<{ status: string; count: number }[]>`
        select status, count(*) as count from deliveries where webhook_id = ${webhook} group by status`
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
    },
    async record(webhook: number, event: number) {
      const [row] = await sql`select * from deliveries where webhook_id = ${webhook} and event_id = ${event}`
      return row
    },
    async leaseHolder(webhook: number): Promise<string | null> {
      const [row] = await sql<{ leased_by: string | null }[]>`select leased_by from webhooks where id = ${webhook}`
      return row!.leased_by
    },
    /** Ends the connections that wait for a lock, and counts them. */
    async breakWaiting(): Promise<number> {
      const { count } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      return count
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(parts.map(({ node }) => node.stop(100)))
      await Promise.all([sql, ...parts.map(part => part.sql)].map(pool => pool.end({ timeout: 1 })))
      await database[Symbol.asyncDispose]()
    },
  }
}

const open = (url: string) => openSql({ url, connections: 3, statementTimeoutMs: 10_000 })

async function register(sql: Sql, url: string): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into webhooks (payload_url, triggers, created_at) values (${url}, '{messages}', now()) returning id`
  return row!.id
}
