import type { Db } from '../postgres/sql.ts'

/** What a client of the revisions of 2025 listens to: its session, by the id that this server gave it, and its user. */
export interface Session {
  user: number
  session: string
}

/** The most resources of a session, and sessions of a user with any; the least recently used are forgotten. Guesses. */
export const resourcesOfSession = 100
const sessionsOfUser = 50
const keptDays = 30

/** Adds a resource to those of a session, if it has room. Served by the primary key and mcp_sessions_use. */
export async function addResource(db: Db, { user, session }: Session, uri: string, now: Date): Promise<void> {
  await db`
    with old as (
      delete from mcp_sessions where used_at < ${now}::timestamptz - make_interval(days => ${keptDays}::int)
        or (user_id = ${user} and session in (
          select session from mcp_sessions where user_id = ${user} order by used_at desc offset ${sessionsOfUser}))
    )
    insert into mcp_sessions as s (user_id, session, uris, used_at) values (${user}, ${session}, array[${uri}::text], ${now})
    on conflict (user_id, session) do update set used_at = excluded.used_at,
      uris = case when ${uri} = any(s.uris) or cardinality(s.uris) >= ${resourcesOfSession} then s.uris
        else s.uris || excluded.uris end`
}

/** Served by the primary key. */
export async function removeResource(db: Db, { user, session }: Session, uri: string): Promise<void> {
  await db`
    update mcp_sessions set uris = array_remove(uris, ${uri}) where user_id = ${user} and session = ${session}`
}

/** Served by the primary key. */
export async function removeSession(db: Db, { user, session }: Session): Promise<void> {
  await db`delete from mcp_sessions where user_id = ${user} and session = ${session}`
}

/** The resources of sessions; those without any are left out. Served by the primary key. */
export function listResources(db: Db, sessions: readonly Session[]): Promise<(Session & { uris: string[] })[]> {
  return db<(Session & { uris: string[] })[]>`
    select s.user_id as "user", s.session, s.uris
    from jsonb_to_recordset(${JSON.stringify(sessions)}::text::jsonb) as asked("user" bigint, session text)
    join mcp_sessions s on s.user_id = asked."user" and s.session = asked.session`
}
