import type { Apps } from '../engine/apps.ts'
import type { EventType } from '../engine/event.ts'
import type { Bytes } from '../bytes/bytes.ts'
import type { Job } from '../jobs/jobs.ts'
import type { Sql } from '../postgres/sql.ts'
import type { Route } from './route.ts'

/** What background work may touch. */
export interface JobParts {
  sql: Sql
  apps: Apps
  bytes: Bytes
  /** After how many days in the trash content is deleted; 0: never. */
  trashDays: number
  /** The time, by this node's clock or PostgreSQL's, whichever is behind: what is deleted for its age is old by both. */
  past: () => Promise<Date>
}

/** What a resource brings: its endpoints, the events that its commands emit, and what it does again and again. */
export interface Resource {
  routes: Route[]
  /** Endpoints of the administration page alone, under /admin. */
  adminRoutes?: Route[]
  events?: EventType<unknown>[]
  jobs?: (parts: JobParts) => Job[]
}

export function resource(declared: Resource): Resource {
  return declared
}
