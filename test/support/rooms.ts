import type { IdempotencyKey } from '../../src/api/idempotency-key.ts'
import type { Apps } from '../../src/engine/apps.ts'
import { systemUser, type Principal } from '../../src/auth/principal.ts'
import { toFields } from '../../src/resources/apps/content-fields.ts'
import { parseText } from '../../src/resources/content/text/render.ts'
import { messageCommands } from '../../src/resources/messages/kind.ts'
import { prepareEvents } from '../../src/jobs/storage-jobs.ts'
import { createDatabase, type Database } from './database.ts'

export const system: Principal = { kind: 'key', user: systemUser, credential: '' }

/** A database with some chat rooms, for actors without a server. */
export async function openRooms(count: number): Promise<Database & { rooms: number[] }> {
  const database = await createDatabase()
  const { sql } = database
  await prepareEvents(sql, new Date())
  const rows = await sql<{ id: number }[]>`
    insert into apps (type, rev, head_rev, created_at, created_by)
    select 'chat_room', 1, 1, now(), 0 from generate_series(1, ${count}::int) returning id`
  return { ...database, rooms: rows.map(({ id }) => id) }
}

interface Sending {
  by?: Principal
  text?: string
  idempotencyKey?: IdempotencyKey | undefined
}

/** Sends a message to a room through one node's actors. */
export function send(apps: Apps, room: number, { by = system, text = 'hello', idempotencyKey }: Sending = {}) {
  const content = { text: parseText(text), fields: toFields({}), parts: null, context: [] }
  return apps.run(messageCommands.create, room, by, content, idempotencyKey)
}
