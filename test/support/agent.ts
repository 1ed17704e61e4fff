import { openSql } from '../../src/postgres/sql.ts'

/** Puts an agent into a database, in the directories named. Before the server meets it: no cache hears of this. */
export async function insertAgent(url: string, uid: string, directories: string[] = []): Promise<string> {
  const sql = openSql({ url, connections: 1, statementTimeoutMs: 10_000 })
  try {
    const [agent] = await sql<{ id: number }[]>`
      insert into users (uid, name, display_name, is_agent, created_at)
      values (${uid}, ${uid}, ${uid}, true, now()) returning id`
    await sql`
      insert into directory_members (directory_id, user_id)
      select id, ${agent!.id} from directories where name = any(${directories}::text[])`
    return String(agent!.id)
  } finally {
    await sql.end()
  }
}
