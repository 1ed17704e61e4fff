import type { Db } from '../postgres/sql.ts'

/** The state of a node. */
export interface NodeFigures {
  /** Realtime sessions. */
  sessions: number
  /** Waiting commands. */
  waiting: number
  /** The event loop's lag when it was measured. */
  lag_ms: number
  /** Memory, in bytes. */
  rss: number
  /** The disk of DATA_DIR: bytes in all and free; absent where the system does not say. */
  disk?: { size: number; free: number } | undefined
}

/** A node by its own report. */
export interface NodeRow {
  id: string
  host: string
  version: string
  started_at: Date
  seen_at: Date
  figures: NodeFigures
  jobs: JobRow[]
}

/** The last run of a job. */
export interface JobRow {
  name: string
  period_ms: number
  last_run_at: string
  duration_ms: number
  runs: number
  /** Rows that the last run changed or removed; null where it does not count them. */
  rows: number | null
  error: string | null
}

export async function saveNode(
  db: Db,
  { id, host, version, started_at, figures }: Omit<NodeRow, 'seen_at' | 'jobs'>,
): Promise<void> {
  const text = JSON.stringify(figures)
  await db`
    insert into nodes (id, host, version, started_at, seen_at, figures)
    values (${id}, ${host}, ${version}, ${started_at}, now(), ${text}::text::jsonb)
    on conflict (id) do update set seen_at = now(), figures = excluded.figures`
}

export async function saveJobs(db: Db, id: string, jobs: JobRow[]): Promise<void> {
  await db`update nodes set jobs = ${JSON.stringify(jobs)}::text::jsonb where id = ${id}`
}

/** The nodes that have reported within this many seconds, longest running first. */
export function listNodes(db: Db, seconds: number): Promise<NodeRow[]> {
  return db<NodeRow[]>`
    select id, host, version, started_at, seen_at, figures, jobs from nodes
    where seen_at > now() - make_interval(secs => ${seconds}) order by started_at, id`
}

/** The ids of all nodes but one, those that were killed lately among them. */
export async function listOthers(db: Db, id: string): Promise<string[]> {
  const rows = await db<{ id: string }[]>`select id from nodes where id <> ${id}`
  return rows.map(({ id }) => id)
}

export async function removeNode(db: Db, id: string): Promise<void> {
  await db`delete from nodes where id = ${id}`
}

export async function removeAllNodes(db: Db): Promise<void> {
  await db`delete from nodes`
}

/** Removes nodes that have not reported for a day. */
export async function removeLostNodes(db: Db): Promise<void> {
  await db`delete from nodes where seen_at < now() - interval '1 day'`
}
