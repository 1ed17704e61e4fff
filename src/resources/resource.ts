import type { Apps } from '../engine/apps.ts'
import type { EventType } from '../engine/event.ts'
import type { Bytes } from '../bytes/bytes.ts'
import type { Job } from '../jobs/jobs.ts'
import type { Clock } from '../lib/clock.ts'
import type { Sql } from '../postgres/sql.ts'
import type { Route } from './route.ts'

/** The services of background jobs. */
export interface JobParts {
  sql: Sql
  clock: Clock
  apps: Apps
  bytes: Bytes
  /** Days in the trash after which content is deleted; 0: never. */
  trashDays: number
  /** The time by this node's clock or PostgreSQL's, whichever is behind: rows deleted for their age are old by both. */
  past: () => Promise<Date>
}

/** The manifest of a resource: its endpoints, the events of its commands, and its jobs. */
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
