import { expect } from 'vitest'
import { consumedEvents } from '../../src/resources/notifications/processing/consumer.ts'
import type { Sql } from '../../src/postgres/sql.ts'
import { eventually } from './eventually.ts'

/** Waits until nothing is left to do of what follows from commits: notifications, read marks and search terms. */
export async function allFollowed(sql: Sql, options?: { timeoutMs: number }): Promise<void> {
  await eventually(async () => {
    expect(await sql`select from notifiable`).toHaveLength(0)
    const left = await sql`
      select from events e left join notification_cursors c on c.app_id = e.app_id
      where e.app_id > 0 and (e.rev > coalesce(c.rev, 0) or c.due_at <= now())
        and e.type = any(${[...consumedEvents]}::text[])
        and exists (select from apps a where a.id = e.app_id and a.deleted_at is null)`
    expect(left).toHaveLength(0)
  }, options)
}
