import { expect, test } from 'vitest'
import { addPartitions } from '../../src/log/events.ts'
import { createDatabase } from '../support/database.ts'

/** What an entry of two numbers takes in a page that is full. */
const entryBytes = 28

test('the index of events stays full while many apps are written to in turn', async () => {
  await using database = await createDatabase()
  const { sql } = database
  const now = new Date()
  await addPartitions(sql, now)

  const { count } = await sql`
    insert into events (app_id, rev, prev, type, actor_id, entity_type, entity_id, created_at)
    select app, turn * 3 + message, 0, 'message_created', 1, 'message', 1, ${now}
    from generate_series(1, 1000) turn, generate_series(1, 20) app, generate_series(1, 3) message
    order by turn, app, message`

  const [index] = await sql<{ bytes: number }[]>`
    select sum(pg_relation_size(relid)) as bytes from pg_partition_tree('events_app') where isleaf`
  expect(Number(index!.bytes)).toBeLessThan(count * entryBytes * 1.4)
})
